"""Other processes, as the kernel tells of them."""

from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended; one may be gone before it is read."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
