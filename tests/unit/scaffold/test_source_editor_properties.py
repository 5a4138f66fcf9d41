"""For any layout of an operator's source, a controller is inserted and nothing else changes."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from steersman.scaffold.source_editor import with_controller, with_import

NAMES = st.text("abz019", min_size=1, max_size=40).map(lambda name: f"m{name}")
COMMENTS = st.sampled_from(["", "  # größer ]", "  # [a, b]", "  # ,"])
PIECES = st.sampled_from(["{}.controller", "made('{}]')", "*others_of_{}", "{}[0]"])


@st.composite
def operators(draw: st.DrawFn) -> str:
    """The source of an operator, with a list in some layout."""
    items = [
        draw(PIECES).format(f"it_{name}") for name in draw(st.lists(NAMES, max_size=4, unique=True))
    ]
    indent = "    "
    match draw(st.sampled_from(["one line", "lines", "lines without the last comma"])):
        case "one line":
            inside = ", ".join(items)
        case "lines":
            lines = [f"\n{indent * 2}{each},{draw(COMMENTS)}" for each in items]
            inside = "".join(lines) + f"\n{indent}"
        case _:
            comma = [*([","] * (len(items) - 1)), ""]
            lines = [
                f"\n{indent * 2}{each}{end}{draw(COMMENTS)}"
                for each, end in zip(items, comma, strict=False)
            ]
            inside = "".join(lines) + f"\n{indent}"
    doc = draw(st.sampled_from(['"""Größe."""\n\n', "", "# nothing\n"]))
    manager = f"manager = sm.Manager(\n{indent}controllers=[{inside}],\n)\n"
    return f"{doc}import steersman as sm\n\n{manager}"


def controllers_in(source: str) -> list[str]:
    (found,) = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.List)]
    return [ast.unparse(each) for each in found.elts]


@given(operators(), NAMES)
def test_a_controller_is_inserted_and_existing_code_is_kept(source: str, module: str) -> None:
    expression = f"new_{module}.controller"

    changed = with_controller(source, expression)

    assert changed is not None
    assert controllers_in(changed) == [*controllers_in(source), expression]
    for line in source.splitlines():
        for comment in line.split("  #")[1:]:
            assert f"  #{comment}" in changed


@given(operators(), st.lists(NAMES, min_size=1, max_size=6))
def test_imports_are_sorted_and_unique(source: str, modules: list[str]) -> None:
    changed = source
    for module in modules:
        changed = with_import(changed, "shop", module)

    found = [each for each in ast.walk(ast.parse(changed)) if isinstance(each, ast.ImportFrom)]
    (imported,) = found
    names = [each.name for each in imported.names]
    assert sorted(names) == sorted(set(modules))
    assert controllers_in(changed) == controllers_in(source)
    again = changed
    for module in reversed(modules):
        again = with_import(again, "shop", module)
    assert again == changed
