"""The files of facts about the built-in kinds, and when they are read."""

from collections import Counter
from pathlib import Path

import pytest

from steersman import kinds
from steersman.openapi import DIRECTORY, load_all_facts, load_facts


def test_a_file_is_read_once_when_its_facts_are_first_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_facts.cache_clear()
    reads: Counter[Path] = Counter()
    read_bytes = Path.read_bytes

    def counted(path: Path) -> bytes:
        reads[path] += 1
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", counted)

    apps = load_facts("apps_v1")

    assert reads == {DIRECTORY / "apps_v1.json": 1}
    assert load_all_facts()["apps_v1"] is load_facts("apps_v1") is apps
    assert load_all_facts() == load_all_facts()
    assert reads == dict.fromkeys(DIRECTORY.iterdir(), 1)


def test_each_module_of_built_in_kinds_has_its_facts() -> None:
    modules = {path.stem for path in Path(kinds.__file__).parent.glob("*_v[0-9].py")}

    assert set(load_all_facts()) == modules


def test_facts_have_their_group_and_version() -> None:
    facts = load_facts("rbac_v1")

    assert (facts["group"], facts["version"]) == ("rbac.authorization.k8s.io", "v1")
    assert facts["resources"]["roles"]["namespaced"]
    assert "io.k8s.api.rbac.v1.Role" in facts["schemas"]
