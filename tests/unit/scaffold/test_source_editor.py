"""The source editor inserts code, and leaves all other code unchanged."""

import ast

import pytest

from steersman.scaffold.source_editor import (
    call_lines,
    import_line,
    with_controller,
    with_import,
    with_served_version,
)

AUTHORS = '''"""Größe."""

import steersman as sm

from shop import app  # ours


def settings() -> int:
    return 1  # why not


# All of them.
manager = sm.Manager(
    # in this order
    controllers=[
        app.controller,  # größte
    ],
    runnables=[],
)
'''


def test_the_first_controller_is_inserted_into_the_empty_list() -> None:
    source = "manager = sm.Manager(\n    controllers=[],\n)\n"

    changed = with_controller(source, "app.controller")

    assert changed == (
        "manager = sm.Manager(\n    controllers=[\n        app.controller,\n    ],\n)\n"
    )


def test_the_authors_code_stays_unchanged() -> None:
    changed = with_controller(AUTHORS, "web.controller")

    assert changed == AUTHORS.replace(
        "app.controller,  # größte\n", "app.controller,  # größte\n        web.controller,\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Manager(controllers=[a])", "Manager(controllers=[a, b])"),
        ("Manager(controllers=[a,])", "Manager(controllers=[a, b])"),
        ("m = sm.Manager(controllers=[a, *more()])", "m = sm.Manager(controllers=[a, *more(), b])"),
        (
            "Manager(\n  controllers=[\n    a\n  ])",
            "Manager(\n  controllers=[\n    a,\n    b,\n  ])",
        ),
        (
            "Manager(controllers=[\n    # none yet\n])",
            "Manager(controllers=[\n    # none yet\n    b,\n])",
        ),
        (
            "def made():\n    return Manager(controllers=[])",
            "def made():\n    return Manager(controllers=[\n        b,\n    ])",
        ),
    ],
)
def test_a_controller_is_appended_to_the_others(before: str, after: str) -> None:
    assert with_controller(before, "b") == after


@pytest.mark.parametrize(
    "source",
    [
        "",
        "manager = sm.Manager()",
        "manager = sm.Manager(controllers=all_of_them())",
        "manager = sm.Manager(controllers=(a,))",
        "one = Manager(controllers=[])\ntwo = Manager(controllers=[])",
        "# Manager(controllers=[])",
    ],
)
def test_a_missing_list_is_an_error(source: str) -> None:
    assert with_controller(source, "b") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "from shop import b\n\nx = 1\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nfrom shop import b\nx = 1\n'),
        ("import sm\n", "import sm\n\nfrom shop import b\n"),
        ("from shop import a\n", "from shop import a, b\n"),
        ("from shop import b, c\n", "from shop import b, c\n"),
        ("from shop import c as d\n", "from shop import b\nfrom shop import c as d\n"),
        ("from shop import a  # why\n", "from shop import a, b  # why\n"),
        (
            "from shop import (  # why\n    a,\n)\n",
            "from shop import (  # why\n    a,\n)\nfrom shop import b\n",
        ),
        ("import sm  # noqa\nx = 1\n", "import sm  # noqa\n\nfrom shop import b\nx = 1\n"),
        ("from shop import b as c\n", "from shop import b\nfrom shop import b as c\n"),
        ("from shop.z import y\n", "from shop import b\nfrom shop.z import y\n"),
        (
            "import sm\nfrom other import b\n",
            "import sm\nfrom other import b\n\nfrom shop import b\n",
        ),
    ],
)
def test_an_import_is_inserted_in_order(before: str, after: str) -> None:
    assert with_import(before, "shop", "b") == after


def test_imports_are_in_the_order_of_formatters() -> None:
    names = ["controller", "app10", "app9", "Web", "MARK", "App", "A"]

    assert import_line("shop", names) == (
        "from shop import MARK, A, App, Web, app9, app10, controller"
    )


def test_a_long_import_has_a_line_for_each_name() -> None:
    names = ["a" * 50, "b" * 50]

    assert import_line("shop", names) == f"from shop import (\n    {'a' * 50},\n    {'b' * 50},\n)"


def test_an_import_with_an_alias_has_its_own_line() -> None:
    assert import_line("shop", ["Cluster as Kind", "Spec"]) == (
        "from shop import Cluster as Kind\nfrom shop import Spec"
    )
    assert import_line("shop", ["World as Kind", "Spec"]) == (
        "from shop import Spec\nfrom shop import World as Kind"
    )


def test_a_long_call_is_split_into_as_few_lines_as_possible() -> None:
    a, b, c = (letter * 40 for letter in "abc")

    assert call_lines("  f", [a], ":") == f"  f({a}):"
    assert call_lines("  f" * 10, [a, b]) == f"{'  f' * 10}(\n      {a}, {b}\n  )"
    assert call_lines("f", [a, b, c]) == f"f(\n    {a},\n    {b},\n    {c},\n)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('group="g",\n', 'group="g",\n    crd=sm.Crd(also_serves=(AppV2,)),\n'),
        (
            'crd=sm.Crd(short_names=("a",)),\n',
            'crd=sm.Crd(short_names=("a",), also_serves=(AppV2,)),\n',
        ),
        ("crd=sm.Crd(),\n", "crd=sm.Crd(\n        also_serves=(AppV2,),\n    ),\n"),
        (
            "crd=Crd(also_serves=(AppV1Beta1,)),\n",
            "crd=Crd(also_serves=(AppV1Beta1, AppV2)),\n",
        ),
    ],
)
def test_the_stored_version_lists_another_version(before: str, after: str) -> None:
    source = f"class App(\n    CustomResource[Spec, Status],\n    {before}):\n    pass\n"

    changed = with_served_version(source, "App", "AppV2")

    assert changed == source.replace(before, after)
    ast.parse(changed or "")


def test_a_class_statement_stays_on_one_line_if_it_fits() -> None:
    source = 'class App(Base, group="g"):\n    pass\n'

    changed = with_served_version(source, "App", "AppV2")

    assert changed == ('class App(Base, group="g", crd=sm.Crd(also_serves=(AppV2,))):\n    pass\n')


def test_a_long_class_statement_has_a_line_for_each_argument() -> None:
    source = f'class App(Base, group="{"g" * 50}"):\n    pass\n'

    changed = with_served_version(source, "App", "AppV2")

    assert changed == (
        f'class App(\n    Base,\n    group="{"g" * 50}",\n'
        "    crd=sm.Crd(also_serves=(AppV2,)),\n):\n    pass\n"
    )


@pytest.mark.parametrize("crd", ["None", "CRD", "crd_for(App)", "sm.Crd(also_serves=OTHERS)"])
def test_a_definition_from_another_module_is_an_error(crd: str) -> None:
    assert with_served_version(f"class App(Base, crd={crd}):\n    pass\n", "App", "AppV2") is None
