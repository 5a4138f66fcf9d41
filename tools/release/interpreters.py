"""The Pythons on which a release is tried."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shutil import which

from packaging.specifiers import SpecifierSet

from tools.release.failure import ReleaseFailure

# Names on the PATH; the bound is far above any Python that exists.
_NAMES = [f"python3.{minor}" for minor in range(8, 40)]

_ABOUT = "import json, platform; print(json.dumps([platform.python_implementation(), \
platform.python_version()]))"


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


def interpreters(programs: Sequence[str], *, supported: str) -> list[Interpreter]:
    """Each of ``programs`` that runs, or those on the PATH; only ``supported`` versions.

    ``supported`` is a ``requires-python``. The oldest version is first.
    """
    found = [about(program) for program in programs] if programs else [*_on_path()]
    allowed = SpecifierSet(supported)
    unfit = [each for each in found if each.version not in allowed]
    if programs and unfit:
        raise ReleaseFailure(
            problem=f"{unfit[0].program} is Python {unfit[0].version}, and requires-python is"
            f" {supported}",
            what_now="Leave it out of PYTHONS.",
        )
    fit = {each.minor: each for each in found if each.version in allowed}
    if not fit:
        raise ReleaseFailure(
            problem=f"no Python {supported} was found",
            what_now="Name some: make release PYTHONS='/opt/python3.11/bin/python3.11 …'",
        )
    return sorted(fit.values(), key=lambda each: int(each.minor.partition(".")[2]))


def about(program: str) -> Interpreter:
    """Ask a Python for its version."""
    try:
        finished = subprocess.run([program, "-c", _ABOUT], check=True, capture_output=True)
        implementation, version = json.loads(finished.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as caught:
        raise ReleaseFailure(
            problem=f"{program} does not run as a Python: {caught}",
            what_now="Leave it out of PYTHONS.",
        ) from caught
    return Interpreter(program=program, implementation=implementation, version=version)


def _on_path() -> Iterator[Interpreter]:
    for name in _NAMES:
        program = which(name)
        if program is None:
            continue
        try:
            yield about(program)
        except ReleaseFailure:  # pyenv has programs for versions that are not selected
            continue
