"""The CPU time and the memory of a process, from files of ``/proc``."""

import os
from collections.abc import Iterable, Mapping


def cpu_in(stat: str) -> float:
    """User and system time so far, in seconds, from ``/proc/PID/stat``; in steps of a tick."""
    # The name of the program, in parentheses, can contain spaces.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def scheduled_in(schedstats: Iterable[str]) -> float:
    """Time on a processor so far, in seconds, from each ``/proc/PID/task/*/schedstat``.

    The scheduler counts nanoseconds, where ticks of 10 ms would be too coarse. The time of threads
    that have ended is missing.
    """
    return sum(int(each.split()[0]) for each in schedstats) / 1e9


def memory_in(status: str) -> Mapping[str, float]:
    """Resident memory now and at its peak, in megabytes, from ``/proc/PID/status``."""
    sizes = dict(line.split(":", 1) for line in status.splitlines())
    kibibytes = {"resident": sizes["VmRSS"].split()[0], "peak": sizes["VmHWM"].split()[0]}
    return {name: int(size) * 1024 / 1e6 for name, size in kibibytes.items()}
