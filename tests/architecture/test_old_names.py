"""Examples, pages and templates, which people copy, contain no old names.

The old names are those that ``steersman upgrade`` replaces, found in the same way: by the syntax
tree in Python, and as dotted paths, commands and metrics in other texts.
"""

from collections.abc import Iterator

from steersman.scaffold.upgrade.python_source import renamed_python
from steersman.scaffold.upgrade.rename_map import rename_map
from steersman.scaffold.upgrade.text_source import renamed_text
from tests.architecture.tree import assert_none, offenders, texts

COPIED = ("README.md", "docs/", "examples/", "packages/steersman/src/steersman/scaffold/templates/")
# Other tests compare captured output with the current output.
EXEMPT = ("docs/captures/",)

TextFile = tuple[str, str]  # its path and its content


def copied_files() -> list[TextFile]:
    return [
        (path, text)
        for path, text in texts().items()
        if (path.startswith(COPIED) or path.endswith("/README.md")) and not path.startswith(EXEMPT)
    ]


def old_names(file: TextFile) -> Iterator[str]:
    path, text = file
    if path.endswith(".py"):
        found = renamed_python(text, rename_map())
    else:
        found = renamed_text(text, rename_map(), path=path)
    for old, new in sorted(found.names):
        yield f"{path}: {old} is now {new}"


def test_no_file_that_people_copy_has_an_old_name() -> None:
    bad = [
        ("a.py", "from steersman.simulation import simulate\n"),
        ("a.py", "from steersman.errors import Deadlock\n"),
        ("a.py", "from steersman import Controller\n\nController(App, f, reports_as='x')\n"),
        ("a.md", "the package `steersman.dashboard`"),
        ("a.md", "```python\nimport steersman.testing\n```"),
        ("a.py.jinja", "from steersman.simulation import simulate, World\n{{ name }}\n"),
        ("Makefile.jinja", "\t$(PYTHON) -m steersman.testing.binaries\n"),
        ("pyproject.toml.jinja", '"steersman[webhooks]>=1"'),
    ]

    assert_none(offenders(old_names, copied_files(), bad=bad))
