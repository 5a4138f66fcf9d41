"""Parsing of files of /proc."""

import os

from bench.harness.procfs import cpu_in, memory_in, scheduled_in


def stat(name: str) -> str:
    """The stat file of a process with 3 s of user time and 1.5 s of system time."""
    ticks = os.sysconf("SC_CLK_TCK")
    used = f"{3 * ticks} {3 * ticks // 2}"
    ended_children_used = f"{70 * ticks} {110 * ticks}"
    return f"12 ({name}) S 2 3 5 7 11 13 17 19 23 29 {used} {ended_children_used} 20 0 1 0\n"


def test_cpu_is_user_and_system_time_without_that_of_ended_children() -> None:
    assert cpu_in(stat("plain")) == 4.5


def test_a_program_name_with_special_characters_is_parsed() -> None:
    assert cpu_in(stat("a (odd) name 7")) == 4.5


def test_processor_time_covers_all_threads_in_nanoseconds() -> None:
    assert scheduled_in(["1500000000 7 3\n", "250000001 9 1\n"]) == 1.750000001


def test_memory_is_in_megabytes() -> None:
    status = "Name:\tx\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n"

    assert memory_in(status) == {"resident": 1.024, "peak": 2.048}
