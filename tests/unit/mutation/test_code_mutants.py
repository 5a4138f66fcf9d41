import ast

from tests.mutation.runtime.code_mutants import mutants


def changes(body: str) -> list[str]:
    """The changed lines of the mutants of a function with this body."""
    source = "def function():\n" + "".join(f"    {each}\n" for each in body.splitlines())
    found = []
    for mutant in mutants(source, errors=frozenset({"NotFound"})):
        changed = mutant.applied_to(source)
        ast.parse(changed)
        found.append("\n".join(each.strip() for each in changed.splitlines()[1:]))
    return found


def test_comparisons_and_boolean_operators_are_swapped_and_conditions_negated() -> None:
    found = changes("if a < b and not c: d()")

    assert found == [
        "if (not (a < b and not c)): d()",
        "if ((a < b) or (not c)): d()",
        "if a <= b and not c: d()",
        "if a < b and (c): d()",
        "if a < b and not c: pass",
    ]


def test_constants_arithmetic_and_returned_values_change() -> None:
    assert changes('return a + 1 if x else max(b, "GET")') == [
        "return None",
        'return a + 1 if (not (x)) else max(b, "GET")',
        'return a - 1 if x else max(b, "GET")',
        'return a + 2 if x else max(b, "GET")',
        'return a + 0 if x else max(b, "GET")',
        'return a + 1 if x else min(b, "GET")',
        "return a + 1 if x else max(b, 'GET-mutant')",
    ]


def test_statements_and_keyword_arguments_are_deleted() -> None:
    assert changes("await send(body=data)") == ["pass", "await send(**{})"]
    assert changes("self.a = b") == ["pass"]
    assert changes("try:\n    a()\nfinally:\n    b()")[0] == "try:\na()\nfinally:\npass"
    assert "try:\na()\nexcept E:\npass" in changes("try:\n    a()\nexcept E:\n    b()\n    c()")


def test_guards_of_cases_and_conditions_of_comprehensions_are_negated() -> None:
    assert "case 1 if (not (x)):" in "\n".join(changes("match a:\n    case 1 if x:\n        b()"))
    assert "c = [each for each in a if (not (each))]" in changes("c = [each for each in a if each]")


def test_texts_docstrings_and_annotations_never_change() -> None:
    assert changes('"""A docstring."""') == []
    assert changes('raise NotFound("no object", name=f"x{1}")') == ["pass"]
    assert changes('return NotFound("gone")') == ["return None"]
    assert changes('self._observe(Gone(reason="why"))')[:1] == ["pass"]
    assert not any("why-mutant" in each for each in changes('self._observe(Gone(reason="why"))'))
    assert changes('a: Literal["x"] = b') == []
    assert list(mutants("if TYPE_CHECKING:\n    def f():\n        return 1\n")) == []
    assert list(mutants("class A:\n    def __repr__(self):\n        return 'x'\n")) == []


def test_nodes_outside_of_functions_never_change() -> None:
    assert list(mutants("LIMIT = 1\ndef f(a=1, *, b: int = 2): ...\n")) == []


def test_a_mutant_has_the_lines_of_its_statement_or_of_the_head_of_its_block() -> None:
    source = "def f():\n    if (\n        a\n    ):\n        b(\n            c=1\n        )\n"

    lines = {(each.line, each.first_line, each.last_line) for each in mutants(source)}

    assert lines == {(3, 2, 4), (5, 5, 7), (6, 5, 7)}


def test_columns_are_counted_in_bytes() -> None:
    assert changes('a = "é" == b')[0] == 'a = "é" != b'
