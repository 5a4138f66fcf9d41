"""The Pythons on which a release is tried."""

import os
from collections.abc import Mapping, Sequence

from packaging.specifiers import SpecifierSet

from tools.pythons.interpreters import Interpreter, NotPython, about, find
from tools.release.failure import ReleaseFailure
from tools.versions import supported_pythons

# The bound is far above any Python that exists.
_MINORS = [f"3.{minor}" for minor in range(8, 40)]


def interpreters(programs: Sequence[str], *, supported: str) -> list[Interpreter]:
    """Each of ``programs`` that runs, or those on this machine; only ``supported`` versions.

    ``supported`` is a ``requires-python``. The oldest version is first.
    """
    if programs:
        found = [_named(program) for program in programs]
    else:
        found = [*find(_MINORS, environ=os.environ).values()]
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


def refuse_missing(environ: Mapping[str, str]) -> None:
    """Raise ``ReleaseFailure`` unless every supported Python is on this machine."""
    supported = supported_pythons()
    found = find(supported, environ=environ)
    if missing := [each for each in supported if each not in found]:
        raise ReleaseFailure(
            problem=f"no Python {', '.join(missing)} was found on which to try the wheels",
            what_now="Install it; `make test-pythons` downloads some versions. Or name those to"
            " use: make release PYTHONS='/opt/python3.11/bin/python3.11 …'",
        )


def _named(program: str) -> Interpreter:
    try:
        return about(program)
    except NotPython as error:
        raise ReleaseFailure(problem=str(error), what_now="Leave it out of PYTHONS.") from error
