"""The TARGET of a command line, and the operator that it names."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from steersman.cli.targets import load_manager, load_object
from steersman.controller import Controller
from steersman.errors import BadTarget

OPERATOR = """
import steersman as sm
from steersman.kinds import core_v1


async def reconcile(obj: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


one = sm.Controller(core_v1.ConfigMap, reconcile=reconcile, name="one")
"""
ANOTHER = 'two = sm.Controller(core_v1.ConfigMap, reconcile=reconcile, name="two")\n'
MANAGER = "manager = sm.Manager(controllers=[one, two])\n"


@pytest.fixture(autouse=True)
def _forget_imports() -> Iterator[None]:
    """Forget the modules that a test imports."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if not name.startswith("steersman"):
            del sys.modules[name]


def write(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(dedent, texts)), encoding="utf-8")
    return path


def names(target: str, directory: Path) -> list[str]:
    return [each.name for each in load_manager(target, directory=directory).controllers]


def error_for(target: str, directory: Path) -> str:
    with pytest.raises(BadTarget) as refused:
        load_manager(target, directory=directory)
    return str(refused.value)


def test_the_only_controller_of_a_file_is_found(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", OPERATOR)

    assert names("shop.py", tmp_path) == ["one"]


def test_a_file_with_the_name_of_a_standard_module_is_loaded(tmp_path: Path) -> None:
    write(tmp_path / "operator.py", OPERATOR)

    assert names("operator.py", tmp_path) == ["one"]


def test_an_attribute_is_a_controller_a_list_of_them_or_a_manager(tmp_path: Path) -> None:
    write(tmp_path / "kinds.py", OPERATOR, ANOTHER, MANAGER, "some = (two, one)\n")

    assert names("kinds.py:two", tmp_path) == ["two"]
    assert names("kinds.py:some", tmp_path) == ["two", "one"]
    assert names("kinds.py:manager", tmp_path) == ["one", "two"]


def test_without_an_attribute_a_manager_takes_precedence_over_controllers(tmp_path: Path) -> None:
    write(tmp_path / "managed.py", OPERATOR, ANOTHER, MANAGER, "same = manager\n")

    assert names("managed.py", tmp_path) == ["one", "two"]


def test_a_module_is_found_in_the_directory_and_in_src(tmp_path: Path) -> None:
    write(tmp_path / "here_op.py", OPERATOR)
    write(tmp_path / "src/there_op/__init__.py", "")
    write(tmp_path / "src/there_op/main.py", OPERATOR)

    assert names("here_op:one", tmp_path) == ["one"]
    assert names("there_op.main", tmp_path) == ["one"]


def test_a_file_in_a_package_can_import_its_siblings(tmp_path: Path) -> None:
    write(tmp_path / "src/packed_op/__init__.py", "")
    write(tmp_path / "src/packed_op/kinds.py", OPERATOR)
    write(tmp_path / "src/packed_op/main.py", "from packed_op.kinds import one\n")

    assert names("src/packed_op/main.py", tmp_path) == ["one"]


def test_the_error_for_a_missing_file_suggests_a_similar_name(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", OPERATOR)

    assert error_for("shopp.py", tmp_path) == (
        "shopp.py is not an operator: the file shopp.py does not exist, but shop.py does."
        " Name an existing file, or a module."
    )


def test_a_missing_module_is_rejected(tmp_path: Path) -> None:
    assert "the module nowhere_op is neither in this directory nor installed" in error_for(
        "nowhere_op.x:y", tmp_path
    )


def test_a_target_that_is_neither_a_file_nor_a_module_is_rejected(tmp_path: Path) -> None:
    assert "neither a file nor the name of a module" in error_for("my-operator", tmp_path)


def test_an_error_in_the_authors_code_is_shown_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "wrong.py", "import steersman as sm\n\ncontroller = sm.Controler(1)\n")

    assert error_for("wrong.py", tmp_path) == (
        "wrong.py is not an operator: importing it fails: AttributeError: module"
        " 'steersman' has no attribute 'Controler' (wrong.py, line 3: `controller ="
        " sm.Controler(1)`). Correct it and try again."
    )


def test_an_error_of_steersman_is_shown_at_the_authors_line(tmp_path: Path) -> None:
    write(
        tmp_path / "bad.py",
        OPERATOR,
        "three = sm.Controller(core_v1.ConfigMap, reconcile=reconcile, workers=0)\n",
    )

    said = error_for("bad.py", tmp_path)

    assert "(bad.py, line 11: `three = sm.Controller(" in said
    assert "workers" in said


def test_a_syntax_error_is_shown_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "typo.py", "x = 1\nasync deff reconcile():\n")

    said = error_for("typo.py", tmp_path)

    assert "SyntaxError: invalid syntax (typo.py, line 2: `async deff reconcile():`)" in said


def test_an_import_error_names_the_missing_module(tmp_path: Path) -> None:
    write(tmp_path / "wants.py", "import nowhere_to_be_found\n")

    assert "No module named 'nowhere_to_be_found' (wants.py, line 1: `import" in error_for(
        "wants", tmp_path
    )


def test_a_module_that_calls_exit_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "ends.py", "import sys\nsys.exit(3)\n")

    said = error_for("ends.py", tmp_path)

    assert "importing it ends the program (ends.py, line 2: `sys.exit(3)`)" in said
    assert 'Put what runs it under `if __name__ == "__main__":`.' in said


def test_the_error_for_a_missing_attribute_suggests_a_similar_name(tmp_path: Path) -> None:
    write(tmp_path / "near.py", OPERATOR, ANOTHER, MANAGER)

    said = error_for("near.py:manger", tmp_path)

    assert "near.py has no manger. Did you mean near.py:manager?" in said


def test_an_attribute_that_is_not_an_operator_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "what.py", OPERATOR)

    assert "reconcile is a function, not a Manager, a Controller or" in error_for(
        "what.py:reconcile", tmp_path
    )


def test_all_candidates_are_named(tmp_path: Path) -> None:
    write(tmp_path / "many.py", OPERATOR, ANOTHER)

    said = error_for("many.py", tmp_path)

    assert "it contains several candidates: one, two. Name one of them: many.py:one." in said


def test_a_module_without_an_operator_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "none.py", "x = 1\n")

    assert "it does not contain a Manager, a Controller or a list of controllers" in error_for(
        "none.py", tmp_path
    )


def test_output_of_an_import_does_not_go_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "shop.py", OPERATOR, 'print("hello")\n')

    load_manager("shop.py", directory=tmp_path)

    assert capsys.readouterr() == ("", "hello\n")


SHOWN = """
class Shown:
    manager = sm.Manager(controllers=[one])


shown = Shown()
"""


def test_the_manager_of_a_named_object_is_found(tmp_path: Path) -> None:
    write(tmp_path / "shown.py", OPERATOR, SHOWN, "del one\n")

    assert names("shown.py:shown", tmp_path) == ["one"]
    assert "shown.py has no show. Did you mean shown.py:shown?" in error_for(
        "shown.py:show", tmp_path
    )
    assert "it does not contain a Manager" in error_for("shown.py", tmp_path)


def test_an_object_is_loaded_by_its_class_and_name(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", OPERATOR)

    assert load_object("shop.py:one", Controller, directory=tmp_path).name == "one"


def test_an_object_of_another_class_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", OPERATOR)

    for attribute, found in (("one", "an object of Controller"), ("two", "nothing")):
        with pytest.raises(BadTarget, match=f"{attribute} is {found}, not a Path"):
            load_object(f"shop.py:{attribute}", Path, directory=tmp_path)
