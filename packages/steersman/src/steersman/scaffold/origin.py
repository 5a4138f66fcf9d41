"""The origin of the installed steersman, and the wheels that a project must contain.

If steersman came from a package index, a project's pip finds the same version there again.
Otherwise, the project contains the wheel of steersman in ``vendor/``, so that its CI and its image
build need nothing else from this machine. ``vendor/`` then also contains the wheel of
steersman-cluster, which the project's tests use.

If a package did not come from a package index (but from a path, a wheel, an archive or a
repository), the installer has recorded its origin in ``direct_url.json`` (PEP 610). A package
without that file came from a package index, unless it is a development version, which no package
index contains: such a version came from a directory of wheels.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from csv import reader
from dataclasses import dataclass, field, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from steersman.errors import ProjectError

# The directory of a project for the wheels.
VENDOR: Final = "vendor"

# The ``origin`` of a project that gets steersman from an index, by its version.
INDEX: Final = "index"

# The ``origin`` of a project whose development version of steersman is in an index.
UNRELEASED: Final = "unreleased"

# The prefixes of the wheels' names.
_NAMES: Final = frozenset({"steersman", "steersman_cluster"})

# An installer writes these; a wheel does not contain them.
_INSTALLED: Final = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"})

# The hook of PEP 517 that builds a wheel of the current directory.
_HOOK: Final = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"

# The earliest time that a zip file can store: constant, so that equal files give equal bytes.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of an installed steersman, and the wheels that a project must contain.

    ``source`` is a URL, ``index`` (for a package index) or ``unreleased``. ``wheels`` maps file
    names to wheels; it is empty if a package index contains this version.
    """

    source: str = INDEX
    wheels: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        """Return a mapping from the path of each wheel in a project to its content."""
        return {f"{VENDOR}/{name}": wheel for name, wheel in self.wheels.items()}


def index_origin() -> Origin:
    """Return the origin of a steersman that was installed from a package index."""
    return Origin()


def installed_origin() -> Origin:
    """Return the origin of the steersman in the environment of this Python interpreter."""
    base = origin_of(distribution("steersman"), build=build_wheel)
    if base.source == INDEX:
        return base
    try:
        cluster = distribution("steersman-cluster")
    except PackageNotFoundError:  # then the project's tests cannot use it either
        return base
    return replace(base, wheels={**base.wheels, **origin_of(cluster, build=build_wheel).wheels})


def origin_of(found: Distribution, *, build: Callable[[Path], tuple[str, bytes]]) -> Origin:
    """Return the origin of the distribution ``found``.

    ``build`` builds a wheel from a source directory.
    """
    text = found.read_text("direct_url.json")
    if text is None:
        if ".dev" not in found.version:
            return Origin()
        name, wheel = repacked(found)
        return Origin(source=UNRELEASED, wheels={name: wheel})
    direct_url = json.loads(text)
    url = str(direct_url["url"])
    if direct_url.get("dir_info", {}).get("editable"):
        name, wheel = build(Path(unquote(urlsplit(url).path)))
    else:
        name, wheel = repacked(found)
    return Origin(source=_source(url, direct_url), wheels={name: wheel})


def kept_origin(found: Origin, *, directory: Path, source: str) -> Origin:
    """Return ``found``, or the previous origin if ``found`` is a wheel in the project itself.

    In the virtual environment of a project that contains wheels of steersman, steersman is
    installed from such a wheel. The result then has the given ``source``, and all wheels in the
    project in ``directory``.
    """
    paths = carried_wheels(directory)
    url, _, digest = found.source.partition("#sha256=")
    for path in paths:
        wheel = path.read_bytes()
        if url == path.resolve().as_uri() or digest == hashlib.sha256(wheel).hexdigest():
            return Origin(source=source, wheels={each.name: each.read_bytes() for each in paths})
    return found


def carried_wheels(directory: Path) -> list[Path]:
    """Return the wheels of steersman and steersman-cluster in the project in ``directory``."""
    found = [*(directory / VENDOR).glob("*.whl")]
    return sorted(path for path in found if path.name.partition("-")[0] in _NAMES)


def build_wheel(directory: Path) -> tuple[str, bytes]:
    """Build a wheel from the source in ``directory``; return its file name and its bytes.

    In a development checkout, the build backend is installed, and the build takes less than a
    second. Otherwise pip downloads the build backend.
    """
    if not directory.is_dir():
        raise ProjectError(
            problem=f"steersman is installed from {directory}, which no longer exists, so the wheel"
            f" for the project cannot be built",
            what_now="Install steersman again.",
        )
    pip = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir")
    with tempfile.TemporaryDirectory(prefix="steersman-") as scratch:
        finished = subprocess.run(
            [
                sys.executable,
                "-P",  # an operator.py there must not hide Python's operator module
                *(("-c", _HOOK) if find_spec("hatchling") else pip),
                scratch,
                *(() if find_spec("hatchling") else (str(directory),)),
            ],
            cwd=directory,
            check=False,
            capture_output=True,
            text=True,
        )
        made = sorted(Path(scratch).glob("*.whl"))
        if finished.returncode or len(made) != 1:
            *_, last = ("no wheel was made", *finished.stderr.strip().splitlines())
            raise ProjectError(
                problem=f"steersman is installed from {directory}, and the wheel"
                f" for the project cannot be built: {last}",
                what_now=f"Run `pip wheel --no-deps {directory}` to see why.",
            )
        return made[0].name, made[0].read_bytes()


def repacked(found: Distribution) -> tuple[str, bytes]:
    """Pack the installed files of the distribution ``found`` into a wheel.

    Return the file name of the wheel and its bytes.
    """
    files = dict(sorted(_files(found)))
    if not files:
        raise ProjectError(
            problem=f"{found.name} was installed without a list of its files (RECORD), so the"
            f" wheel for the project cannot be built",
            what_now="Install it with pip.",
        )
    info = next(str(PurePosixPath(path).parent) for path in files if path.endswith("/WHEEL"))
    tag = next(
        line.partition(":")[2].strip()
        for line in files[f"{info}/WHEEL"].decode().splitlines()
        if line.startswith("Tag:")
    )
    record = f"{info}/RECORD"
    lines = [f"{path},{_digest(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join((*lines, f"{record},,\n")).encode()
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = ZipInfo(path, _EPOCH)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = _MODE
            archive.writestr(entry, content)
    return f"{info.removesuffix('.dist-info')}-{tag}.whl", packed.getvalue()


def _files(found: Distribution) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the wheel, except the record.

    Scripts, bytecode and the installer's own files are not part of a wheel.
    """
    for path, *_ in reader((found.read_text("RECORD") or "").splitlines()):
        steps = PurePosixPath(path)
        if ".." in steps.parts or steps.is_absolute() or steps.suffix == ".pyc":
            continue
        if steps.parent.name.endswith(".dist-info") and steps.name in _INSTALLED:
            continue
        yield path, Path(str(found.locate_file(path))).read_bytes()


def _source(url: str, direct_url: Mapping[str, Any]) -> str:
    if vcs := direct_url.get("vcs_info"):
        return f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    hashes = direct_url.get("archive_info", {}).get("hashes", {})
    return f"{url}#sha256={hashes['sha256']}" if "sha256" in hashes else url


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"
