from pathlib import Path

from tests.mutation.runtime.patched_functions import FunctionIndex, Patch
from tests.unit.mutation import mutated_functions

FILE = str(mutated_functions.__file__)
SOURCE = Path(FILE).read_text(encoding="utf-8")


def patches(old: str, new: str) -> list[Patch]:
    mutant = compile(SOURCE.replace(old, new), FILE, "exec")
    return FunctionIndex().patches(compile(SOURCE, FILE, "exec"), mutant)


def test_an_imported_function_gets_the_code_of_the_mutant() -> None:
    [(function, code)] = patches("number + 1", "number - 1")
    original = function.__code__

    function.__code__ = code
    changed = mutated_functions.added(5)
    function.__code__ = original

    assert changed == 4
    assert mutated_functions.added(5) == 6


def test_a_decorated_function_is_found() -> None:
    [(function, _)] = patches('"open"', '"closed"')

    assert function.__name__ == "opened"


def test_an_existing_inner_function_is_found_with_its_outer_function() -> None:
    found = patches("return start", "return start + 1")

    assert {each.__qualname__ for each, _ in found} == {"counter", "counter.<locals>.count"}


def test_a_mutant_that_uses_other_outer_variables_cannot_be_applied() -> None:
    assert patches("return start", "return 1") == []
