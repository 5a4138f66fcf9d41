"""Other processes, read from /proc."""

from pathlib import Path

PROC = Path("/proc")


def is_running(pid: int) -> bool:
    """Whether the process exists and has not ended; it can end before it is read."""
    try:
        return ") Z " not in (PROC / str(pid) / "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """The running child processes."""
    running = (int(each.name) for each in PROC.iterdir() if each.name.isdigit())
    return [each for each in running if _parent(each) == pid]


def _parent(pid: int) -> int | None:
    try:
        # The program name, in parentheses, may itself contain spaces and parentheses.
        fields = (PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = fields[0], int(fields[1])
    return None if state == "Z" else parent
