"""``Demo``, and the example projects with demos, in the source tree or in the installed wheel."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from steersman.kinds import Resource
from steersman.manager import Manager
from steersman_cluster.demos.context import DemoContext
from steersman_cluster.errors import UnknownExample

DEMO: Final = "demo.py"

_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An example's operator, the kinds of objects to show, and the steps that change objects.

    The demo shows the objects of ``kinds``, together with the objects that they own. Owned objects
    are shown if their kind is watched by a controller of the manager, or is in ``below``. List in
    ``below`` the kinds that runnables create, because runnables do not declare them. The operator's
    own kinds are installed before the first step.
    """

    title: str
    manager: Manager
    kinds: tuple[type[Resource], ...]
    steps: Callable[[DemoContext], Awaitable[None]]
    below: tuple[type[Resource], ...] = ()


def examples(*, package: Path = _HERE) -> dict[str, Path]:
    """Return the directory of each example that has a demo, by the example's name."""
    packaged = package / "examples"
    home = packaged if packaged.is_dir() else (package.parents[2] / "examples").resolve()
    return {each.parent.name: each.parent for each in sorted(home.glob(f"*/{DEMO}"))}


def find_example(name: str) -> Path:
    """Return the directory of the example ``name``; raise ``UnknownExample`` if there is none."""
    found = examples()
    if name not in found:
        raise UnknownExample(
            name=name,
            known=tuple(found),
            like=next(iter(get_close_matches(name, found, n=1)), None),
        )
    return found[name]
