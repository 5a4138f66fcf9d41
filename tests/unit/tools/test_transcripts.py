"""Transcripts of a terminal: how they are parsed and compared."""

import pytest

from tools.transcripts import Step, steps

TEXT = """A remark.

$ kubectl get robot
NAME        AGE
robot-one   …

Another remark.

$ kubectl delete robot robot-one
$ python -m robot_operator &
"""


def test_the_output_of_a_command_ends_at_an_empty_line() -> None:
    found = list(steps(TEXT))

    assert [(each.line, each.command, len(each.shown)) for each in found] == [
        (3, "kubectl get robot", 2),
        (9, "kubectl delete robot robot-one", 0),
        (10, "python -m robot_operator &", 0),
    ]


def test_only_queries_are_repeated_and_only_watches_keep_running() -> None:
    asking, deleting, staying = steps(TEXT)

    assert (asking.asks, deleting.asks, staying.asks) == (True, False, False)
    assert (asking.stays, deleting.stays, staying.stays) == (False, False, True)


@pytest.mark.parametrize(
    ("shown", "said", "fits"),
    [
        (("NAME   AGE", "one    …"), "NAME      AGE\none       3d3h\n", True),
        (("NAME   AGE", "one    …"), "NAME      AGE\ntwo       3d3h\n", False),
        (("NAME   AGE", "one    …"), "NAME      AGE\none   1s\ntwo   1s\n", False),
        (("first", "…", "last"), "first\nsecond\nthird\nlast\n", True),
        (("first", "…", "last"), "first\nlast\n", True),
        (("first", "…", "last"), "first\nsecond\n", False),
        (("a.b",), "axb\n", False),
        ((), "", True),
        ((), "something\n", False),
    ],
)
def test_dots_match_anything_and_spacing_is_ignored(
    shown: tuple[str, ...], said: str, fits: bool
) -> None:
    assert Step(1, "kubectl get robot", shown).fits(said) is fits
