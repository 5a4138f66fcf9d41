from pathlib import Path

import pytest

from tools.changelog import main, section, with_release


def test_a_release_lists_its_changes_by_kind_and_then_by_name() -> None:
    fragments = {
        "watch.fixed.md": "A watch that\nfalls silent is resumed.\n",
        "scale.added.md": "`Client.scale` reads and sets replicas.\n",
        "apply.added.md": "`Client.apply` is server-side apply.\n",
    }

    written = section("0.2.0", "2027-01-31", fragments)

    assert written == (
        "## 0.2.0 (2027-01-31)\n"
        "\n"
        "### Added\n"
        "\n"
        "- `Client.apply` is server-side apply.\n"
        "- `Client.scale` reads and sets replicas.\n"
        "\n"
        "### Fixed\n"
        "\n"
        "- A watch that falls silent is resumed.\n"
    )


@pytest.mark.parametrize(
    "older", [pytest.param("", id="first"), pytest.param("\n## 0.1.0 (2026-12-01)\n", id="second")]
)
def test_a_release_is_placed_above_the_older_ones(older: str) -> None:
    changelog = f"# Changelog\n\nNewest first.\n{older}"

    changed = with_release(changelog, "## 0.2.0 (2027-01-31)\n")

    assert changed == f"# Changelog\n\nNewest first.\n\n## 0.2.0 (2027-01-31)\n{older}"


def test_a_release_removes_the_fragments(tmp_path: Path) -> None:
    changes = tmp_path / "changes"
    changes.mkdir()
    (changes / "README.md").write_text("How to write one.\n")
    (changes / "watch.fixed.md").write_text("A watch that falls silent is resumed.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")

    main("0.2.0", "2027-01-31", root=tmp_path)

    assert [path.name for path in changes.iterdir()] == ["README.md"]
    assert "- A watch that falls silent is resumed.\n" in (tmp_path / "CHANGELOG.md").read_text()
