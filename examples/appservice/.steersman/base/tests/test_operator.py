"""The operator as a whole: what the tests of a single controller would not show."""

from opdemo.operator import manager


def test_no_kind_is_looked_after_by_two_controllers() -> None:
    kinds = [each.gvk for each in manager.controllers]

    assert len(kinds) == len(set(kinds))
