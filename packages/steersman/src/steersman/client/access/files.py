"""Reads small configuration files, with a size limit."""

from pathlib import Path
from typing import Final

from steersman.errors import ConfigError

# Tokens and certificates take kilobytes; a bundle of all public authorities takes 250 kB.
CREDENTIAL_BYTES: Final = 1024 * 1024

# Enough for a kubeconfig of several hundred clusters with their certificates.
CONFIG_BYTES: Final = 2 * 1024 * 1024


def read_small_file(path: Path, *, limit_bytes: int = CREDENTIAL_BYTES) -> bytes:
    """Return the content of ``path``; raise ``ConfigError`` if it exceeds ``limit_bytes``."""
    content = read_if_exists(path, limit_bytes=limit_bytes)
    if content is None:
        raise ConfigError(
            source=str(path), problem="the file does not exist", what_now="Check the path."
        )
    return content


def read_if_exists(path: Path, *, limit_bytes: int = CREDENTIAL_BYTES) -> bytes | None:
    """Return the content of ``path``, or ``None`` if there is no such file.

    ``limit_bytes`` is the largest permitted size.
    """
    try:
        with path.open("rb") as file:
            # The size is not checked first, because pipes and devices have none.
            content = file.read(limit_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the path is invalid"
        raise ConfigError(
            source=str(path),
            problem=f"cannot be read: {reason}",
            what_now="Make the file readable for this process.",
        ) from error
    if len(content) > limit_bytes:
        raise ConfigError(
            source=str(path),
            problem=f"is larger than {limit_bytes} bytes",
            what_now="Check that it is the correct file.",
        )
    return content


def exists(path: Path) -> bool:
    """Whether the file ``path`` exists and this process has the permission to see it."""
    try:
        path.stat()
    except OSError:
        return False
    return True
