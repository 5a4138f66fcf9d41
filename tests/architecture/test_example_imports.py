"""Examples and the code of the documentation import each name by one path."""

import ast
from collections.abc import Iterator
from pathlib import Path

import steersman
from tests.architecture.tree import ROOT, assert_none, offenders

PLACES = (ROOT / "examples", ROOT / "docs" / "code")

# Programs without a controller import from these packages, which have Client and ObjectKey beside
# names that the top package does not have, such as MergePatch and ObjectRef.
LOW_LEVEL = {"steersman.client", "steersman.names"}


def second_paths(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if not node.module.startswith("steersman.") or node.module in LOW_LEVEL:
            continue
        for alias in node.names:
            if alias.name in steersman.__all__:
                yield f"{path}:{node.lineno}: {alias.name} comes from steersman itself"


def test_examples_import_no_name_from_a_subpackage_that_the_top_package_has(
    tmp_path: Path,
) -> None:
    files = [file for place in PLACES for file in sorted(place.rglob("*.py"))]
    kind = tmp_path / "kind.py"
    kind.write_text("from steersman.kinds import Condition, core_v1\n")
    module = tmp_path / "module.py"
    module.write_text("def late():\n    from steersman.kinds import recipes\n")

    assert_none(offenders(second_paths, files, bad=[kind, module]))
