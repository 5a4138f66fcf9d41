"""Tests of the operator as a whole."""

from opdemo.operator import manager


def test_no_kind_has_two_controllers() -> None:
    kinds = [each.gvk for each in manager.controllers]

    assert len(kinds) == len(set(kinds))
