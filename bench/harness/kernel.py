"""What the kernel says of a process: its CPU time and its memory."""

import os
from collections.abc import Mapping


def cpu_in(stat: str) -> float:
    """User and system time so far, in seconds, from ``/proc/PID/stat``."""
    # The name of the program, in parentheses, may have anything in it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_in(status: str) -> Mapping[str, float]:
    """Resident memory now and at its peak, in megabytes, from ``/proc/PID/status``."""
    sizes = dict(line.split(":", 1) for line in status.splitlines())
    kibibytes = {"resident": sizes["VmRSS"].split()[0], "peak": sizes["VmHWM"].split()[0]}
    return {name: int(size) * 1024 / 1e6 for name, size in kibibytes.items()}
