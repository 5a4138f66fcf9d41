"""Names of a package that are loaded when they are first used.

Some packages have modules that need costly libraries, or names that few programs use. Such a
package lists these names in a table, and defines ``__getattr__ = lazy_names(__name__, table)``.
Python calls this function for a name that the package does not have yet (PEP 562).
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, names: Mapping[str, str], *, modules: Mapping[str, str] | None = None
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of ``package``, which imports a name when it is first used.

    ``names`` maps each name to the module that defines the name. ``modules`` maps each name that is
    itself a module to the path of that module. The paths of modules are relative to ``package``.
    """

    def load(name: str) -> object:
        if name in names:
            found: object = getattr(import_module(f"{package}.{names[name]}"), name)
        elif modules and name in modules:
            found = import_module(f"{package}.{modules[name]}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    return load
