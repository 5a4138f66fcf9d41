"""The catalog of examples."""

import re
from pathlib import Path

import pytest

from steersman_cluster.demos import examples, find_example
from steersman_cluster.errors import UnknownExample
from tests.examples import EXAMPLES


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    return path


def test_an_example_is_found_in_the_source_tree_and_in_a_wheel(tmp_path: Path) -> None:
    source = tmp_path / "clone" / "src" / "steersman" / "demos"
    beside = write(tmp_path / "clone" / "examples" / "robot" / "demo.py")
    installed = tmp_path / "site-packages" / "steersman" / "demos"
    carried = write(installed / "examples" / "robot" / "demo.py")

    assert examples(package=source) == {"robot": beside.parent}
    assert examples(package=installed) == {"robot": carried.parent}


def test_a_directory_without_a_demo_is_not_an_example(tmp_path: Path) -> None:
    home = tmp_path / "steersman" / "demos"
    write(home / "examples" / "README.md")
    write(home / "examples" / "half" / "README.md")

    assert examples(package=home) == {}


def test_an_unknown_example_is_rejected_with_the_known_names() -> None:
    with pytest.raises(UnknownExample) as refused:
        find_example("apservice")

    assert str(refused.value) == (
        "the example apservice does not exist; the most similar name is appservice."
        f" Choose one of {', '.join(examples())}."
    )
    assert "appservice" in refused.value.known


def test_the_readme_lists_each_example_and_references_existing_files() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")

    for name in examples():
        assert f"[{name}]({name}/)" in page
    for path in re.findall(r"(?<=examples/)[\w./-]+(?=`)|(?<=\]\()[\w./-]+(?=\))", page):
        assert (EXAMPLES / path).exists(), path
    for module in re.findall(r"python -m (\w+)", page):
        assert list(EXAMPLES.glob(f"*/src/{module}/__main__.py")), module
