"""Distinguishes steersman's own files from those of operator authors and other libraries."""

import os
from functools import cache
from importlib.util import find_spec
from typing import Final

_PACKAGES: Final = ("steersman", "steersman_cluster")


def is_own_code(filename: str) -> bool:
    """Whether ``filename`` is the path of a file in one of steersman's packages.

    ``filename`` is the ``__file__`` of a module, or the file name of a stack frame.
    """
    return filename.startswith(_directories())


@cache
def _directories() -> tuple[str, ...]:
    # A package that is not installed has no spec; one that is has it without being imported.
    specs = filter(None, map(find_spec, _PACKAGES))
    return tuple(
        f"{directory}{os.sep}"
        for spec in specs
        for directory in spec.submodule_search_locations or ()
    )
