from pathlib import Path

from tests.mutation.runtime.coverage_map import CoverageMap

FILE = Path("module.py")


def test_the_nearest_tests_are_first_and_then_those_that_cover_the_fewest_lines() -> None:
    coverage = CoverageMap(
        [
            (FILE, 1, ["cluster/a", "cluster/b", "unit/c"]),
            (FILE, 2, ["cluster/a", "unit/c"]),
            (FILE, 9, ["cluster/d"]),
        ]
    )

    ordered = coverage.tests(FILE, range(1, 3), nearest=("unit/",))

    assert ordered == ["unit/c", "cluster/b", "cluster/a"]


def test_a_line_that_no_test_runs_has_no_tests() -> None:
    coverage = CoverageMap([(FILE, 1, ["unit/a"])])

    assert coverage.tests(FILE, [2], nearest=()) == []
    assert coverage.tests(Path("other.py"), [1], nearest=()) == []
