"""Paths of files inside volumes and containers."""

from typing import Final

from steersman_cluster.apiserver.builtin import rule


def has_backsteps(path: str) -> bool:
    """Return whether a path contains ``..``."""
    return ".." in path and ".." in path.split("/")


NO_BACKSTEPS: Final = rule.must(lambda path: not has_backsteps(path), "must not contain '..'")
# A path below its base directory.
RELATIVE_PATH: Final = rule.table(
    rule.must(lambda path: not path.startswith("/"), "must be a relative path"), NO_BACKSTEPS
)
# Names that start with ``..`` are reserved for files that the volume itself creates.
VOLUME_FILE_PATH: Final = rule.table(
    RELATIVE_PATH,
    rule.must(
        lambda path: not path.startswith("..") or path.startswith("../"),
        "must not start with '..'",
    ),
)
