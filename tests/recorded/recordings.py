"""Files with recordings: for each case, JSON values that the real server gave.

A file is compressed, and has one line per case, ``["name of the case", value]``, sorted by name. To
see it: ``zcat FILE``. Equal content is never written again, so that another version of zlib does
not change a file.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

SUFFIX = ".jsonl.gz"

RENEW = "`make record` asks the real server and renews the recordings"


class RecordingError(Exception):
    """A recording is missing, unused, out of date, or does not fit its case."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; {RENEW}")


def read_recording(path: Path) -> dict[str, Any]:
    """The recorded value of each case; empty if there is no file."""
    if not path.exists():
        return {}
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return dict(msgspec.json.decode(line) for line in lines)


def write_recording(path: Path, cases: Mapping[str, Any]) -> None:
    """Write the value of each case, unless the file has the same content."""
    lines = (
        json.dumps([name, cases[name]], ensure_ascii=True, separators=(",", ":"))
        for name in sorted(cases)
    )
    content = "".join(f"{line}\n" for line in lines).encode()
    if path.exists() and gzip.decompress(path.read_bytes()) == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
