"""A Sphinx extension for the documentation, named in docs/conf.py.

Before a page is read, some of its blocks are filled in, as Markdown:

- ``{include} FILE`` with another page, such as the README of an example. Relative links in it are
  rewritten.
- ``{command-help}`` with the help of every command.
- ``{error-index} NAME`` with the explanations of the errors of a package.
- ``{package} NAME`` with all public names of a package, for autodoc.
- ``{versions} NAME`` with a table of recorded test runs.
- ``{public-names}`` with a table of the names in ``steersman``, each with a link to its page.

Docstrings are plain text with drawings, and those of packages have four headings. They are
converted to reStructuredText.
"""

import ast
import builtins
import inspect
import os
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from pkgutil import iter_modules
from textwrap import shorten
from types import ModuleType
from typing import Any

import click
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

import steersman
from steersman.cli.commands import steersman as command_line
from steersman.errors.explanation import explanations_in
from tools.versions import versions_table

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

BLOCK = re.compile(
    r"^```\{(include|command-help|error-index|package|public-names|versions)\} ?(.*)\n```$",
    re.MULTILINE,
)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)")

HEADING = re.compile(r"(Takes|Gives|Promises|Never):\s+(.*)")
DRAWN = re.compile(r"[─│└├▶◀▲▼═]")

# The width of a block on a page.
WIDTH = 96


# Pages


def filled(text: str, page: Path) -> str:
    """The text of a page, with its blocks filled in."""
    fillers: dict[str, Callable[[str], str]] = {
        "include": partial(_include, page=page),
        "error-index": _error_index,
        "versions": versions_table,
        "package": lambda name: "\n".join(_package(import_module(name))),
        "command-help": lambda _: "\n".join(_help(command_line, "steersman", None)),
        "public-names": lambda _: "\n".join(_public_names()),
    }
    return BLOCK.sub(lambda block: fillers[block[1]](block[2]), text)


def _include(file: str, page: Path) -> str:
    other = (page.parent / file).resolve()

    def turned(link: re.Match[str]) -> str:
        shown, path, anchor = link.groups(default="")
        target = _page_of((other.parent / path).resolve())
        is_page = target.suffix == ".md" and target.is_relative_to(DOCS)
        if target.is_dir() or (target.suffix == ".md" and not is_page):
            return shown  # this page does not show it
        return f"[{shown}]({os.path.relpath(target, page.parent)}{anchor})"

    return LINK.sub(turned, other.read_text(encoding="utf-8"))


def _page_of(path: Path) -> Path:
    """The page for a file or directory, if there is one."""
    inside = path.relative_to(ROOT).parts
    match inside:
        case ("examples",) | ("examples", "README.md"):
            return DOCS / "examples" / "index.md"
        case ("examples", name) | ("examples", name, "README.md"):
            return DOCS / "examples" / f"{name}.md"
        case ("docs", "decisions") | ("docs", "decisions", "README.md"):
            return DOCS / "decisions" / "index.md"
        case ("packages", _, "src", "steersman", name, "__init__.py"):
            return DOCS / "reference" / f"{name}.md"
        case ("packages", _, "src", "steersman_cluster", name, "__init__.py"):
            return DOCS / "reference" / "cluster" / f"{name}.md"
        case _:
            return path


def _help(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH
    )
    yield from (f"## {context.command_path}", "", "```text", command.get_help(context), "```", "")
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None and not below.hidden:
                yield from _help(below, each, context)


def _error_index(package: str) -> str:
    return "\n\n".join(map(str, explanations_in(package).values()))


def _public_names() -> Iterator[str]:
    yield from ("| name | what it is |", "|---|---|")
    for name in steersman.__all__:
        thing = getattr(steersman, name)
        role = "mod" if isinstance(thing, ModuleType) else "obj"
        address = _address(name)
        if _is_value(thing):
            said, _ = _assigned(import_module(address.rpartition(".")[0]), name)
            first = f"``{said}``"
        else:
            first = _first_sentence(thing.__doc__ or "")
        what = first.replace("|", "\\|")
        yield f"| {{py:{role}}}`{name} <{address}>` | {what} |"


def _package(module: ModuleType) -> Iterator[str]:
    names = getattr(module, "__all__", ())
    values = [name for name in names if _is_value(getattr(module, name))]
    others = [name for name in names if is_elsewhere(module, name)]
    yield from ("```{eval-rst}", f".. automodule:: {module.__name__}")
    if values or others:
        yield f"   :exclude-members: {', '.join([*values, *others])}"
    for name in values:
        said, comment = _assigned(module, name)
        yield from ("", f".. py:data:: {name}", f"   :value: {said}", "")
        yield from (f"   {_escaped(line)}" for line in comment)
    yield "```"


def _is_value(thing: object) -> bool:
    """Whether it is no class, function or module: autodoc skips those from another file."""
    return not (isinstance(thing, type | ModuleType) or inspect.isroutine(thing))


def is_elsewhere(module: ModuleType, name: str) -> bool:
    """Whether a package only re-exports it: another page, or another project, documents it."""
    thing = getattr(module, name)
    home = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    return isinstance(thing, ModuleType) or (
        not _is_value(thing) and not f"{home}.".startswith(f"{module.__name__}.")
    )


def _assigned(module: ModuleType, name: str) -> tuple[str, list[str]]:
    """The assigned value of a name in the source, and the comment above it."""
    for file in sorted(Path(module.__file__ or "").parent.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if name not in text:
            continue
        for statement in ast.parse(text).body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
                    pass
                case ast.Assign(targets=[ast.Name(id=found)], value=value):
                    pass
                case _:
                    continue
            if found == name:
                said = " ".join((ast.get_source_segment(text, value) or "").split())
                above = reversed(text.splitlines()[: statement.lineno - 1])
                comment = list(takewhile(lambda line: line.startswith("#"), above))[::-1]
                return shorten(said, 90, placeholder=" …"), [line.strip("#: ") for line in comment]
    raise LookupError(f"{module.__name__}.{name} is assigned nowhere")


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=\.) ", paragraph)[0]


def _address(name: str) -> str:
    """The name under which something is documented: that of its package."""
    thing = getattr(steersman, name)
    if isinstance(thing, ModuleType):
        return thing.__name__
    for path, package in _packages().items():
        has_it = name in getattr(package, "__all__", vars(package))
        if has_it and getattr(package, name) is thing and not is_elsewhere(package, name):
            return f"{path}.{name}"
    raise LookupError(f"steersman.{name} is in no package")


@cache
def _packages() -> dict[str, ModuleType]:
    """All packages, and modules that are documented like one, by name."""
    names = [f"steersman.{each.name}" for each in iter_modules(steersman.__path__)]
    return {name: import_module(name) for name in names if not name.endswith("__main__")}


# Docstrings


def as_rst(lines: list[str]) -> list[str]:
    """A docstring as reStructuredText."""
    written: list[str] = []
    is_drawing = False
    for block in _blocks(lines):
        was_drawing, is_drawing = is_drawing, False
        if HEADING.match(block[0]):
            written += _promises(block)
        elif block[0].startswith("    ") or any(map(DRAWN.search, block)):
            is_drawing = True
            if not was_drawing and not (written and written[-2].endswith("::")):
                written += ["::", ""]
            written += [f"   {line}" for line in block]
        else:
            written += map(_escaped, block)
        written.append("")
    return written


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _promises(block: list[str]) -> Iterator[str]:
    for line in block:
        heading = HEADING.match(line)
        if heading:
            yield f":{heading[1]}:"
        text = _escaped(heading[2] if heading else line.strip())
        goes_on_with_a_promise = not heading and line.startswith(" " * 13)
        yield f"     {text}" if goes_on_with_a_promise else f"   {text}"


def _escaped(line: str) -> str:
    """An asterisk outside of code is escaped: nothing is emphasized."""
    parts = re.split(r"(``.+?``)", line)
    parts[::2] = [part.replace("*", "\\*") for part in parts[::2]]
    return "".join(parts)


# For Sphinx


def _fill(app: Sphinx, name: str, source: list[str]) -> None:
    page = app.env.doc2path(name)
    for block in BLOCK.finditer(source[0]):
        if block[1] == "include":
            app.env.note_dependency(str((page.parent / block[2]).resolve()))
    source[0] = filled(source[0], page)


def _document(
    _app: Sphinx, _what: str, _name: str, _of: object, _how: object, lines: list[str]
) -> None:
    lines[:] = as_rst(lines)


def _load_all_names(_app: Sphinx) -> None:
    # Most packages load their names on demand; autodoc needs them all.
    for package in _packages().values():
        for name in getattr(package, "__all__", ()):
            setattr(package, name, getattr(package, name))


def _leave_python_alone(_app: Sphinx, page: Any) -> None:
    # `type` in an annotation would link to any field of that name.
    for node in list(page.findall(pending_xref)):
        if node.get("refdomain") == "py" and hasattr(builtins, node["reftarget"]):
            node.replace_self(node.children)


def _end_with_the_last_line(_app: Sphinx, page: Any) -> None:
    # An excerpt of a file ends with the empty lines before the next part.
    for node in page.findall(lambda each: each.tagname == "literal_block"):
        text = node.astext().rstrip()
        if len(node.children) == 1:
            node.rawsource = text
            node[0] = type(node[0])(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _load_all_names)
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _document)
    app.connect("doctree-read", _leave_python_alone)
    app.connect("doctree-read", _end_with_the_last_line)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
