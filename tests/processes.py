"""Other processes, as /proc shows them."""

from pathlib import Path

PROC = Path("/proc")


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended; one may be gone before it is read."""
    try:
        return ") Z " not in (PROC / str(pid) / "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """The processes that it started and that still run."""
    running = (int(each.name) for each in PROC.iterdir() if each.name.isdigit())
    return [each for each in running if _parent(each) == pid]


def _parent(pid: int) -> int | None:
    try:
        # The name of the program, in parentheses, may have spaces and parentheses of its own.
        fields = (PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = fields[0], int(fields[1])
    return None if state == "Z" else parent
