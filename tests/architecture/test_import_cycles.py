"""Modules import each other in one direction, also under ``TYPE_CHECKING``."""

from tests.architecture.allowances import CYCLES
from tests.architecture.graph import cycle_sizes, import_graph
from tests.architecture.tree import Module, assert_none


def test_there_are_no_import_cycles_except_those_on_the_list() -> None:
    example = import_graph(
        [
            Module("steersman/a.py", "from steersman.b import B"),
            Module("steersman/b.py", "if TYPE_CHECKING:\n    from steersman import c"),
            Module("steersman/c.py", "def f():\n    import steersman.a"),
            Module("steersman/d.py", "from steersman import a, b, c"),
        ]
    )
    assert cycle_sizes(example) == {f"steersman.{name}": 3 for name in "abc"}

    assert_none(CYCLES.differences())
