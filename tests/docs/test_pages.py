"""The generated parts of pages, and the conversion of docstrings."""

from pathlib import Path

from tools.pages import DOCS, as_rst, filled

HERE = DOCS / "examples" / "robot.md"


def rst(text: str) -> str:
    return "\n".join(as_rst(text.splitlines())).strip()


def test_links_of_an_included_page_are_relative_to_the_including_page(tmp_path: Path) -> None:
    text = filled("```{include} ../../examples/README.md\n```", DOCS / "examples" / "index.md")

    assert "](robot.md)" in text
    assert "](../../examples/robot/demo.py)" in text


def test_the_help_of_every_command_has_a_heading() -> None:
    text = filled("```{command-help}\n```", HERE)

    assert "## steersman cluster up\n\n```text\nUsage: steersman cluster up [OPTIONS]" in text
    assert "## steersman generate crd\n" in text


def test_each_public_name_links_to_its_package() -> None:
    text = filled("```{public-names}\n```", HERE)

    assert "| {py:obj}`Controller <steersman.controller.Controller>` | " in text
    assert "| {py:mod}`recipes <steersman.kinds.recipes>` | " in text


def test_the_promises_of_a_package_become_a_list() -> None:
    text = """Takes:     keys
Promises:  - one thing
           - another, which is so long that it
             goes on
Never:     reads objects,
           or writes them"""

    assert rst(text).splitlines() == [
        ":Takes:",
        "   keys",
        ":Promises:",
        "   - one thing",
        "   - another, which is so long that it",
        "     goes on",
        ":Never:",
        "   reads objects,",
        "   or writes them",
    ]


def test_a_diagram_is_unchanged() -> None:
    assert rst("Words.\n\n    a ──▶ b\n\n    c\n\nMore.") == (
        "Words.\n\n::\n\n       a ──▶ b\n\n       c\n\nMore."
    )


def test_an_asterisk_outside_of_code_is_escaped() -> None:
    assert rst("``*/5 *`` or */5") == "``*/5 *`` or \\*/5"
