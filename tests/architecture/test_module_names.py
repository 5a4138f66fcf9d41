"""The name of a module is a noun."""

from tests.architecture.allowances import ING_NAMES
from tests.architecture.ing_names import ing_names
from tests.architecture.tree import Module, assert_none


def test_no_module_name_ends_in_ing_except_those_on_the_list() -> None:
    example = ["steersman/a/writing.py", "steersman/asking/__init__.py", "steersman/asking/a.py"]
    example += ["steersman_cluster/testing/__init__.py", "steersman_cluster/testing/testing.py"]
    assert list(ing_names(Module(path, "") for path in example)) == [
        "steersman.a.writing",
        "steersman.asking",
        "steersman_cluster.testing.testing",
    ]

    assert_none(ING_NAMES.differences())
