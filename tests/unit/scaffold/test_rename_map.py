"""The maps of old names: each new name exists, and is not itself renamed."""

import re
from importlib import import_module

import pytest

from steersman.scaffold.upgrade.rename_map import RenameMap, merged_map, rename_map
from tests.architecture.tree import modules


def exists(path: str) -> bool:
    module, _, name = path.rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ImportError:
        return False


def module_exists(path: str) -> bool:
    return any(module.name == path for module in modules())


def test_every_new_name_exists() -> None:
    renames = rename_map()

    assert [each for each in renames.names.values() if not exists(each)] == []
    assert [each for each in renames.modules.values() if not module_exists(each)] == []
    words = {word for module in modules() for word in re.findall(r"[A-Za-z_]\w*", module.text)}
    assert {*renames.attributes.values(), *renames.keywords.values()} - words == set()


def test_no_old_name_exists() -> None:
    renames = rename_map()

    assert [each for each in renames.names if exists(each)] == []
    assert [each for each in renames.modules if module_exists(each)] == []


def test_no_new_name_is_an_old_one() -> None:
    renames = rename_map()

    for path in (*renames.names.values(), *renames.modules.values()):
        assert renames.current(path) == path
    for table in (renames.flags, renames.metrics, renames.extras):
        assert not set(table) & set(table.values())


def test_a_renamed_name_of_a_moved_package_is_found_under_both_paths() -> None:
    renames = merged_map(
        [
            {"modules": {"steersman.a": "steersman_cluster.a"}},
            {
                "names": {"steersman.a.Old": "steersman_cluster.a.New"},
                "attributes": {"steersman.a.Old.x": "y"},
            },
        ]
    )

    for old in ("steersman.a.Old", "steersman_cluster.a.Old"):
        assert renames.current(f"{old}.z") == "steersman_cluster.a.New.z"
    for owner in ("steersman.a.Old", "steersman_cluster.a.Old", "steersman_cluster.a.New"):
        assert renames.attribute(owner, "x") == "y"
    assert renames.current("steersman.a.Older") == "steersman_cluster.a.Older"


@pytest.mark.parametrize("owner", ["", "steersman.Other", "steersman.A"])
def test_an_attribute_of_an_unknown_object_is_renamed_only_by_an_entry_without_a_class(
    owner: str,
) -> None:
    renames = RenameMap(attributes={"steersman.A.x": "y", "u": "v"})

    assert renames.attribute(owner, "x") == ("y" if owner == "steersman.A" else None)
    assert renames.attribute(owner, "u") == "v"
