"""``python -m tools.constraints FILE``: write the hashes of each pinned release to FILE.

FILE has a line ``NAME==VERSION`` for each release, with or without hashes below it. The hashes are
those of all files of the release (wheels for every Python and platform, and the source) in the
index that pip is configured with. The file itself names no index.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s\\]+)", re.MULTILINE)


class IndexFile(NamedTuple):
    """A file in an index, with its SHA-256."""

    name: str
    sha256: str | None


def pins(text: str) -> dict[str, str]:
    """The names and versions in a constraints file."""
    return dict(_PIN.findall(text))


def with_hashes(text: str, files_of: Callable[[str], Iterable[IndexFile]]) -> str:
    """The pins of a constraints file, each with the hashes of its release.

    ``files_of`` returns all files in the index for a name.
    """
    lines: list[str] = []
    for name, version in sorted(pins(text).items(), key=lambda pin: pin[0].lower()):
        files = [each for each in files_of(name) if version_of(each.name, name) == Version(version)]
        hashes = sorted({each.sha256 for each in files if each.sha256 is not None})
        missing = [each.name for each in files if each.sha256 is None]
        if missing or not hashes:
            what = f"no SHA-256 of {missing[0]}" if missing else f"no {name} {version}"
            raise SystemExit(f"the index of pip has {what}")
        lines += [f"{name}=={version}", *(f"    --hash=sha256:{each}" for each in hashes)]
    return re.sub(r"\n(?= )", " \\\\\n", "\n".join(lines)) + "\n"


def version_of(file: str, project: str) -> Version | None:
    """The version in the name of a wheel or a source distribution; ``None`` for other files."""
    try:
        if file.endswith(".whl"):
            return parse_wheel_filename(file)[1]
        name, version = parse_sdist_filename(file)
    except (InvalidSdistFilename, InvalidVersion, InvalidWheelFilename):
        return None
    return version if name == canonicalize_name(project) else None


@contextmanager
def index_files() -> Iterator[Callable[[str], Iterator[IndexFile]]]:
    """Read the index with pip itself: its configuration has addresses, credentials and proxies."""
    # Only this function needs pip's modules, which are slow to load.
    from pip._internal.commands.index import IndexCommand
    from pip._internal.index.collector import parse_links
    from pip._internal.models.link import Link

    command = IndexCommand("index", "")
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options=options, session=session)
        collector = finder._link_collector

        def files_of(name: str) -> Iterator[IndexFile]:
            for location in collector.search_scope.get_index_urls_locations(name):
                content = collector.fetch_response(Link(location))
                for link in parse_links(content) if content else ():
                    yield IndexFile(
                        link.filename, link.hash if link.hash_name == "sha256" else None
                    )

        yield files_of


def main(file: str) -> None:
    """Rewrite the file."""
    path = Path(file)
    with index_files() as files_of:
        text = with_hashes(path.read_text(encoding="utf-8"), files_of)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
