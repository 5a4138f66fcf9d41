import ast
from textwrap import indent

from tests.mutation.runtime.code_mutants import mutants


def changes(body: str) -> list[str]:
    """What the mutants of a function with this body contain instead."""
    source = f"async def function():\n{indent(body, '    ')}\n"
    found = list(mutants(source, errors=frozenset({"NotFound"})))
    for mutant in found:
        mutant.compiled("file")
    return [str(each).partition("  ->  ")[2] for each in found]


def test_comparisons_and_boolean_operators_are_swapped_and_conditions_negated() -> None:
    assert changes("if a < b and not c: d()") == [
        "if not (a < b and (not c)):",
        "a < b or not c",
        "a <= b",
        "c",
        "pass",
    ]
    assert changes("while a is b: c = x in y") == ["a is not b", "x not in y"]


def test_constants_arithmetic_functions_and_returned_values_change() -> None:
    assert changes("return a + 1 if x else max(b, 'GET')") == [
        "return None",
        "a + 1 if not x else max(b, 'GET')",
        "a - 1",
        "2",
        "0",
        "min(b, 'GET')",
        "'GET-mutant'",
    ]
    assert changes("a = True, b'x', -1.5") == ["False", "b'x-mutant'", "2.5", "0.5"]


def test_statements_and_keyword_arguments_are_deleted() -> None:
    assert changes("await send(body=data)") == ["pass", "send()"]
    assert changes("self.a = b") == ["pass"]
    assert changes("try: a = b\nfinally: c = d") == ["pass"]
    assert changes("try: a = b\nexcept E: c = d") == ["pass"]


def test_guards_of_cases_and_conditions_of_comprehensions_are_negated() -> None:
    assert changes("match a:\n    case _ if b: c = d") == ["case _ if not b:"]
    assert changes("a = [b for b in c if b]") == ["for b in c if not b"]


def test_texts_and_annotations_never_change() -> None:
    assert changes('"""A docstring."""') == []
    assert changes('raise NotFound("no object")') == ["pass"]
    assert changes('return NotFound("gone")') == ["return None"]
    assert changes('self._observe(Gone("why"))') == ["pass"]
    assert changes('a: Literal["x"] = b') == []
    assert changes('a = f"x{b}"') == []
    assert changes('a = "Set a number of seconds."') == []
    assert changes("assert_never(a)") == []
    assert list(mutants("if TYPE_CHECKING:\n    def f():\n        return 1\n")) == []
    assert list(mutants("class A:\n    def __repr__(self):\n        return 'x'\n")) == []


def test_nodes_outside_of_functions_never_change() -> None:
    assert list(mutants("LIMIT = 1\ndef f(a=1, *, b: int = 2): ...\n")) == []


def test_a_mutant_differs_from_the_source_in_one_node_of_the_code_of_a_function() -> None:
    source = "def f():\n    return a + 1\n\ndef g():\n    return 2"
    expected = {"return None", "return a - 1", "return a + 2", "return a + 0"}
    found = set()

    for mutant in mutants(source):
        mutant._replace(mutant.new)
        changed = ast.unparse(mutant.module)
        mutant._replace(mutant.old)
        found.add(changed)

    assert found == {
        *(f"def f():\n    {each}\n\ndef g():\n    return 2" for each in expected),
        *(
            f"def f():\n    return a + 1\n\ndef g():\n    return {each}"
            for each in ("None", "3", "1")
        ),
    }


def test_a_mutant_has_the_lines_of_its_statement_or_of_the_head_of_its_block() -> None:
    source = "def f():\n    if (\n        a\n    ):\n        b(\n            c=1\n        )\n"

    lines = {str(each).partition("  ->  ")[2]: each.lines for each in mutants(source)}

    assert lines == {
        "if not a:": range(2, 5),
        "pass": range(5, 8),
        "b()": range(5, 8),
        "2": range(5, 8),
        "0": range(5, 8),
    }


def test_a_mutant_of_an_inner_function_occurs_once() -> None:
    source = "def f():\n    def g():\n        return 1\n    return g\n"

    assert [str(each) for each in mutants(source)] == [
        "3: return 1  ->  return None",
        "3: 1  ->  2",
        "3: 1  ->  0",
        "4: return g  ->  return None",
    ]
