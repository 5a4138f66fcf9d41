"""Each public name of an older version exists, is renamed by ``steersman upgrade``, or is listed.

``older_api.txt`` contains the public API of that version, for the authors of operators, and
``older_api_gone.txt`` what is gone without a successor.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from steersman.scaffold.upgrade.rename_map import RenameMap, rename_map
from tests.architecture.tree import assert_none, modules, offenders, packages

OLDER_API = Path(__file__).with_name("older_api.txt")
GONE = Path(__file__).with_name("older_api_gone.txt")

_CALLABLE = re.compile(r"(?P<name>[\w.]+)(?P<brackets>[(\[](?P<keywords>[\w ]*)[)\]])?")


def lines_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def gone() -> dict[str, str]:
    """The removed names, with the reasons."""
    return {name: reason for name, _, reason in (line.partition(": ") for line in lines_of(GONE))}


def without_keyword(path: str) -> str:
    return re.sub(r"\(\w+\)$", "()", path)


@cache
def today(path: str) -> Any:
    """The object of a dotted path, or None."""
    try:
        return import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        try:
            return getattr(import_module(module), name, None)
        except ImportError:
            return None


def members(cls: type[Any]) -> frozenset[str]:
    found = set(dir(cls))
    for each in cls.__mro__:
        found.update(vars(each).get("__annotations__", ()), vars(each).get("__slots__", ()))
        init = vars(each).get("__init__")
        if inspect.isfunction(init) and init.__code__.co_filename == inspect.getfile(each):
            found.update(re.findall(r"\bself\.(\w+)\b", inspect.getsource(init)))
    return frozenset(found)


def keywords(function: Any) -> frozenset[str] | None:
    """The keywords of a function, or None if it accepts any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return None
    return frozenset(each.name for each in parameters)


def lost_in(line: str, renames: RenameMap) -> Iterator[str]:
    """Yield each name in one line of the older API that the current API does not have."""
    head, _, rest = line.partition(": ")
    found = _CALLABLE.fullmatch(head)
    assert found is not None, line
    old = found["name"]
    owner = today(renames.current(old))
    if owner is None and not _is_annotation(renames.current(old)):
        yield old
        return
    words = (found["keywords"] or "").split()
    yield from _lost_keywords(old, words, owner, renames)
    names = rest.split(", ") if rest else []
    has = members(owner) if inspect.isclass(owner) else frozenset[str]()
    for each in [*names, *(words if "[" in head else ())]:
        member = _CALLABLE.fullmatch(each)
        assert member is not None, line
        name = member["name"]
        new = name if name in has else renames.attribute(old, name)
        if new is None or new not in has:
            yield f"{old}.{name}"
        elif member["keywords"]:
            function = getattr(owner, new)
            yield from _lost_keywords(
                f"{old}.{name}", member["keywords"].split(), function, renames
            )


def _is_annotation(path: str) -> bool:
    module, _, name = path.rpartition(".")
    return name in getattr(today(module), "__all__", ())


def _lost_keywords(old: str, words: list[str], function: Any, renames: RenameMap) -> Iterator[str]:
    taken = keywords(function) if words else None
    if taken is not None:
        for word in words:
            if word not in taken and renames.keyword(old, word) not in taken:
                yield f"{old}({word})"


def lost(line: str) -> Iterator[str]:
    for each in lost_in(line, rename_map()):
        if not gone().keys() & {each, without_keyword(each)}:
            yield f"{each} is neither in today's API nor in the maps of scaffold/renames"


def test_each_public_name_of_an_older_version_exists_or_is_renamed() -> None:
    bad = [
        "steersman.controller.Nothing",
        "steersman.nothing.Name",
        "steersman.controller.Context: nothing",
        "steersman.controller.Context: list(nothing)",
        "steersman.Controller(nothing)",
        "steersman.simulation.Scenario[nothing]",
    ]

    assert_none(offenders(lost, lines_of(OLDER_API), bad=bad))


def test_each_name_that_is_listed_as_gone_does_not_exist() -> None:
    found = {each for line in lines_of(OLDER_API) for each in lost_in(line, rename_map())}
    found.update([without_keyword(each) for each in found])

    assert sorted(gone().keys() - found) == []
    assert all(gone().values())


def test_a_name_that_is_renamed_on_every_object_is_on_no_current_object() -> None:
    classes: set[type[Any]] = {
        value
        for package in packages()
        for name in import_module(package.name).__all__
        if inspect.isclass(value := getattr(import_module(package.name), name, None))
    }
    names = {name for cls in classes for name in members(cls)}
    for module in modules():
        if re.fullmatch(r"steersman\.kinds\.\w+_v\d\w*", module.name):
            import_module(module.name)
    names.update(field for cls in _subclasses(msgspec.Struct) for field in cls.__struct_fields__)
    renames = rename_map()
    general = {each for each in {*renames.attributes, *renames.keywords} if "." not in each}

    assert sorted(general & names) == []


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for each in cls.__subclasses__():
        yield each
        yield from _subclasses(each)
