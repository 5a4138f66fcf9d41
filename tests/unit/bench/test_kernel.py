"""What the kernel says is read as it is meant."""

from bench.harness.kernel import cpu_in, memory_in, scheduled_in


def test_the_name_of_a_program_does_not_disturb_its_accounting() -> None:
    before = " ".join(["R", *("0" for _ in range(10))])

    assert cpu_in(f"12 (a (odd) name 7) {before} 150 50 0 0") > 0
    assert cpu_in(f"12 (plain) {before} 150 50 0 0") == cpu_in(
        f"12 (a (odd) name 7) {before} 150 50 0 0"
    )


def test_time_on_a_processor_is_that_of_all_threads_to_the_nanosecond() -> None:
    assert scheduled_in(["1500000000 7 3\n", "250000001 9 1\n"]) == 1.750000001


def test_memory_is_in_megabytes() -> None:
    status = "Name:\tx\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n"

    assert memory_in(status) == {"resident": 1.024, "peak": 2.048}
