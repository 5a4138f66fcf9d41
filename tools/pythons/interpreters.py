"""The Pythons on this machine: those on the PATH, pyenv's, and those that ``debian`` extracted."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from tools.pythons import debian

# A pyenv version of another implementation, or of a free-threaded build, has letters in its name.
_RELEASE = re.compile(r"\d+\.\d+\.\d+")

_ABOUT = "import json, platform; print(json.dumps([platform.python_implementation(), \
platform.python_version()]))"


class NotPython(Exception):
    """A program does not run as a Python."""

    def __init__(self, program: str, reason: Exception) -> None:
        super().__init__(f"{program} does not run as a Python: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python on this machine."""

    program: str
    implementation: str
    version: str

    @property
    def minor(self) -> str:
        """Its minor version, such as 3.11."""
        return ".".join(self.version.split(".")[:2])


def about(program: str) -> Interpreter:
    """Ask a program for its version; raise ``NotPython`` if it has none."""
    try:
        finished = subprocess.run([program, "-c", _ABOUT], check=True, capture_output=True)
        implementation, version = json.loads(finished.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as caught:
        raise NotPython(program, caught) from caught
    return Interpreter(program=program, implementation=implementation, version=version)


def find(minors: Iterable[str], *, environ: Mapping[str, str]) -> dict[str, Interpreter]:
    """The interpreter of each minor version that is found; the PATH precedes pyenv and Debian."""
    found: dict[str, Interpreter] = {}
    for minor in minors:
        for program in _candidates(minor, environ):
            try:
                interpreter = about(program)
            except NotPython:  # pyenv has programs on the PATH for versions that are not selected
                continue
            if interpreter.minor == minor:
                found[minor] = interpreter
                break
    return found


def _candidates(minor: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Programs that may be a Python of this minor version, in the order of preference."""
    name = f"python{minor}"
    on_path = which(name, path=environ.get("PATH", ""))
    if on_path is not None:
        yield on_path
    home = Path(environ.get("HOME") or Path.home())
    versions = Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    releases = [
        each for each in versions.glob(f"{minor}.*") if _RELEASE.fullmatch(each.name) is not None
    ]
    for release in sorted(releases, key=lambda each: int(each.suffix[1:]), reverse=True):
        yield str(release / "bin" / name)
    yield str(debian.root_directory(environ) / "usr" / "bin" / name)
