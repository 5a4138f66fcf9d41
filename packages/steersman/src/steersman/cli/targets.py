"""Loads the operator that the TARGET of a command line names.

A target is ``module:attribute``, ``module``, or ``path/to/file.py[:attribute]``. It names a
``Manager``, a ``Controller``, or a sequence of controllers. Without an attribute, the first of the
following is used: the module's only manager, its only list of controllers, its only controller. If
the attribute ``manager`` of a named object is a ``Manager``, that manager is used.
"""

import linecache
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from steersman._own_code import is_own_code
from steersman.controller import Controller
from steersman.errors import BadTarget, SteersmanError
from steersman.manager import Manager

# The limits for an author's error and source line; a traceback shows the rest.
MAX_ERROR_LENGTH: Final = 300
MAX_LINE_LENGTH: Final = 80

_WHAT_IT_IS: Final = "a Manager, a Controller or a list of controllers"

T = TypeVar("T")


def load_manager(target: str, *, directory: Path) -> Manager:
    """Load the operator that ``target`` names, from a file or module in ``directory``.

    The module is imported with ``directory`` and ``directory/src`` on ``sys.path``, as a program in
    that directory would import it. The output of the import goes to stderr, because stdout is for
    the command's own output.
    """
    place, attribute = _parts(target)
    with redirect_stdout(sys.stderr):
        module = _Import(target, directory.absolute()).module(place)
    return _manager_in(module, attribute, target=target)


def load_object(target: str, kind: type[T], *, directory: Path) -> T:
    """Return the object of class ``kind`` that ``target`` names.

    ``target`` consists of a file or a module, and an attribute. The file or module is looked up in
    ``directory``.
    """
    place, attribute = _parts(target)
    with redirect_stdout(sys.stderr):
        found = vars(_Import(target, directory.absolute()).module(place)).get(attribute)
    if not isinstance(found, kind):
        raise BadTarget(
            target=target,
            problem=f"{attribute} is {_described(found)}, not a {kind.__name__}",
            what_now=f"Create one: `{attribute} = {kind.__name__}(…)`.",
        )
    return found


def is_file(target: str) -> bool:
    """Whether ``target`` names a file, not a module."""
    place, _ = _parts(target)
    return place.endswith(".py") or "/" in place


def place_of(target: str) -> str:
    """Return the file or module in ``target``, without the attribute."""
    return _parts(target)[0]


def _parts(target: str) -> tuple[str, str]:
    place, _, attribute = target.partition(":")
    return place, attribute


class _Import:
    """An import of an operator author's module, which raises an error that explains a failure."""

    def __init__(self, target: str, directory: Path) -> None:
        self._target = target
        self._directory = directory

    def module(self, place: str) -> ModuleType:
        if not is_file(place):
            if not all(part.isidentifier() for part in place.split(".")):
                raise self._bad(
                    f"{place!r} is neither a file nor the name of a module",
                    "Write module:attribute, or the path of a .py file.",
                )
            self._prefer(self._directory, self._directory / "src")
            return self._imported(place)
        path = (self._directory / Path(place).expanduser()).resolve()
        if not path.is_file():
            raise self._bad(self._not_there(path), "Name an existing file, or a module.")
        root = path.parent
        while (root / "__init__.py").is_file():
            root = root.parent
        self._prefer(root, self._directory, self._directory / "src")
        if root != path.parent:  # in a package, whose relative and absolute imports need it
            inside = path.relative_to(root).with_suffix("").parts
            return self._imported(".".join(inside[:-1] if inside[-1] == "__init__" else inside))
        return self._loose(path)

    def _imported(self, name: str) -> ModuleType:
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            # The module itself is missing, not one that it imports.
            if error.name is not None and f"{name}.".startswith(f"{error.name}."):
                raise self._bad(
                    f"the module {error.name} is neither in {self._shown(self._directory)}"
                    " nor installed",
                    "Correct the name, or change to the directory of the project.",
                ) from error
            raise self._does_not_import(error) from error
        except (Exception, SystemExit) as error:
            raise self._does_not_import(error) from error

    def _loose(self, path: Path) -> ModuleType:
        # Loaded by path: operator.py must not be taken for the standard module of that name.
        name = f"{path.stem}_" if path.stem in sys.stdlib_module_names else path.stem
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise self._bad("it is not a Python file", "Name a .py file, or a module.")
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise self._does_not_import(error) from error
        return module

    def _prefer(self, *directories: Path) -> None:
        wanted = [str(each) for each in directories if each.is_dir()]
        sys.path[:] = [*dict.fromkeys(wanted), *(each for each in sys.path if each not in wanted)]

    # Errors

    def _bad(self, problem: str, what_now: str) -> BadTarget:
        return BadTarget(target=self._target, problem=problem, what_now=what_now)

    def _not_there(self, path: Path) -> str:
        here = path.parent
        names = sorted(each.name for each in here.glob("*.py")) if here.is_dir() else []
        like = get_close_matches(path.name, names, n=1)
        meant = f", but {like[0]} does" if like else ""
        return f"the file {self._shown(path)} does not exist{meant}"

    def _does_not_import(self, error: BaseException) -> BadTarget:
        if isinstance(error, SystemExit):
            return self._bad(
                f"importing it ends the program{self._where(error)}",
                'Put what runs it under `if __name__ == "__main__":`.',
            )
        if isinstance(error, SteersmanError):
            message = str(error).rstrip(".")
        else:
            text = error.msg if isinstance(error, SyntaxError) else str(error)
            message = f"{type(error).__name__}: {text}".rstrip(": ")
        message = " ".join(message.split())
        if len(message) > MAX_ERROR_LENGTH:
            message = f"{message[: MAX_ERROR_LENGTH - 1]}…"
        return self._bad(
            f"importing it fails: {message}{self._where(error)}", "Correct it and try again."
        )

    def _where(self, error: BaseException) -> str:
        """Return the last line of the author's own code in the traceback.

        Lines of steersman and of the importer are skipped.
        """
        if isinstance(error, SyntaxError) and error.filename:
            return self._line(error.filename, error.lineno or 1)
        found = ""
        for frame in traceback.extract_tb(error.__traceback__):
            if _is_an_authors(frame.filename):
                found = self._line(frame.filename, frame.lineno or 1)
        return found

    def _line(self, filename: str, number: int) -> str:
        linecache.checkcache(filename)
        line = linecache.getline(filename, number).strip()
        if len(line) > MAX_LINE_LENGTH:
            line = f"{line[: MAX_LINE_LENGTH - 1]}…"
        return f" ({self._shown(Path(filename))}, line {number}{f': `{line}`' if line else ''})"

    def _shown(self, path: Path) -> str:
        if path == self._directory:
            return "this directory"
        if path.is_relative_to(self._directory):
            return path.relative_to(self._directory).as_posix()
        return str(path)


def _is_an_authors(filename: str) -> bool:
    return not (
        is_own_code(filename)
        or filename.startswith(("<", sys.base_prefix))
        or "site-packages" in filename
    )


# The content of a module


def _manager_in(module: ModuleType, attribute: str, *, target: str) -> Manager:
    found: Mapping[str, object] = vars(module)
    if attribute:
        return _named(found, attribute, target=target)
    for candidates in (
        _distinct(found, lambda each: isinstance(each, Manager)),
        _distinct(found, lambda each: _is_some_controllers(each)),
        _distinct(found, lambda each: isinstance(each, Controller)),
    ):
        if len(candidates) == 1:
            return _as_manager(next(iter(candidates.values())))
        if candidates:
            raise BadTarget(
                target=target,
                problem=f"it contains several candidates: {', '.join(candidates)}",
                what_now=f"Name one of them: {target}:{next(iter(candidates))}.",
            )
    raise BadTarget(
        target=target,
        problem=f"it does not contain {_WHAT_IT_IS}",
        what_now="Name the module that contains one; `sm.Manager(controllers=[…])` creates one.",
    )


def _named(found: Mapping[str, object], attribute: str, *, target: str) -> Manager:
    place, _ = _parts(target)
    if attribute not in found:
        able = [name for name, each in found.items() if _is_an_operator(each)]
        like = get_close_matches(attribute, able, n=1) or get_close_matches(attribute, found, n=1)
        raise BadTarget(
            target=target,
            problem=f"{place} has no {attribute}",
            what_now=f"Did you mean {place}:{like[0]}?"
            if like
            else f"There is {', '.join(able)}."
            if able
            else f"The target must be {_WHAT_IT_IS}.",
        )
    value = found[attribute]
    if not _is_an_operator(value):
        raise BadTarget(
            target=target,
            problem=f"{attribute} is {_described(value)}, not {_WHAT_IT_IS}",
            what_now="Name one of these, or create one: `sm.Manager(controllers=[…])`.",
        )
    return _as_manager(value)


def _distinct(found: Mapping[str, object], is_one: Any) -> dict[str, object]:
    """Return the objects for which ``is_one`` is true, each once, under its first name."""
    seen: dict[int, str] = {}
    for name, each in found.items():
        if is_one(each):
            seen.setdefault(id(each), name)
    return {name: found[name] for name in seen.values()}


def _is_an_operator(value: object) -> bool:
    return (
        isinstance(value, Manager | Controller)
        or isinstance(_manager_of(value), Manager)
        or _is_some_controllers(value)
    )


def _manager_of(value: object) -> object:
    return getattr(value, "manager", None)


def _is_some_controllers(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and len(value) > 0
        and all(isinstance(each, Controller) for each in value)
    )


def _as_manager(value: Any) -> Manager:
    if isinstance(value, Manager):
        return value
    if isinstance(manager := _manager_of(value), Manager):
        return manager
    return Manager(controllers=(value,) if isinstance(value, Controller) else tuple(value))


def _described(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value):
        return "a function"
    return f"an object of {type(value).__name__}"
