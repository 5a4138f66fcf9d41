"""A Sphinx extension, named in docs/conf.py: each page as Markdown, for programs that read it.

It writes, beside the HTML pages:

- ``NAME.md`` for each page ``NAME.html``, with included code and generated parts. A page of the
  reference is plain text. Each HTML page links to its file.
- ``llms.txt``: a list of all pages, each with its first sentence.
- ``llms-full.txt``: the guides, concepts and look-up pages in one file. The API reference and the
  decisions are left out, because a reader needs only some of them.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

from docutils.nodes import paragraph
from sphinx.addnodes import toctree
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralIncludeReader
from sphinx.writers.text import TextTranslator

from tools.pages import LINK, ROOT, filled

FENCE = re.compile(r"^( *)(`{3,})([^\n]*)\n(.*?)^\1\2$\n?", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"\{([a-z-]+)\} ?(.*)")
OPTION = re.compile(r"^:([a-z-]+): ?(.*)$")
ROLE = re.compile(r"\{py:[a-z]+\}`([^`<]+?) ?(?:<[^`]*>)?`")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")

# Options that select lines; the others change only how a block looks.
SELECTING = {"dedent", "end-at", "end-before", "pyobject", "start-at", "tab-width"}
NUMBERS = {"dedent", "tab-width"}

# Directories whose pages are listed in llms.txt, and not part of llms-full.txt.
ONLY_LISTED = ("reference/", "decisions/")

LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".go": "go"}


def markdown(app: Sphinx, name: str) -> str:
    """A page as Markdown that needs no other file."""
    page = Path(app.env.doc2path(name))
    text = page.read_text(encoding="utf-8")
    if "```{package}" in text:
        return _as_text(app, name)
    text = FENCE.sub(lambda block: _block(app, page, block), filled(text, page))
    text = ROLE.sub(r"`\1`", text)
    text = IMAGE.sub(r"(Picture: \1)", text)
    text = LINK.sub(lambda link: _link(app, page, link), text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _as_text(app: Sphinx, name: str) -> str:
    document = app.env.get_doctree(name)
    # Of a builder, it uses only the configuration.
    builder: Any = app.builder
    translator = TextTranslator(document, builder)
    document.walkabout(translator)
    title, _, rest = translator.body.partition("\n")
    shown = rest.lstrip("*=\n").rstrip()
    return f"# {title}\n\n```text\n{shown}\n```\n"


def _block(app: Sphinx, page: Path, block: re.Match[str]) -> str:
    indent, _, info, body = block.groups()
    directive = DIRECTIVE.fullmatch(info)
    if directive is None:
        return block[0]
    kind, argument = directive.groups()
    text = _filled_in(app, page, kind, argument, dedent(body))
    return "".join(
        f"{indent}{line}" if line.strip() else line for line in text.splitlines(keepends=True)
    )


def _filled_in(app: Sphinx, page: Path, kind: str, argument: str, body: str) -> str:
    match kind:
        case "literalinclude":
            return _code(app, page.parent / argument, body)
        case "toctree":
            hidden = ":hidden:" in body
            name = app.env.path2doc(str(page))
            return "" if hidden or name is None else "\n".join(_entries(app, name)) + "\n"
        case "note" | "warning":
            lines = f"**{kind.title()}:** {body.strip()}".splitlines()
            return "".join(f"> {line}\n" for line in lines)
        case _:
            raise ValueError(f"{page}: a block {kind} has no form in Markdown")


def _code(app: Sphinx, file: Path, body: str) -> str:
    options: dict[str, Any] = {}
    for line in body.splitlines():
        if option := OPTION.match(line):
            value = option[2].strip("\"'")
            options[option[1]] = int(value) if option[1] in NUMBERS else value
    selected = {name: value for name, value in options.items() if name in SELECTING}
    reader = LiteralIncludeReader(file.resolve(), selected, app.config)
    text, _ = reader.read()
    language = options.get("language", LANGUAGES.get(file.suffix, "text"))
    caption = f"`{options['caption']}`:\n\n" if options.get("caption") else ""
    code = text.strip("\n").rstrip()
    return f"{caption}```{language}\n{code}\n```\n"


def _link(app: Sphinx, page: Path, link: re.Match[str]) -> str:
    shown, path, anchor = link.groups(default="")
    target = (page.parent / path).resolve()
    if app.env.path2doc(str(target)) in app.env.found_docs:
        return f"[{shown}]({path}{anchor})"
    # Another file of the repository, which the site does not have.
    name = target.relative_to(ROOT).as_posix()
    return shown if shown.strip("`") == name else f"{shown} (`{name}`)"


# The table of contents


def _entries(app: Sphinx, name: str) -> Iterator[str]:
    """The pages that the visible tables of contents of a page name."""
    for table in app.env.get_doctree(name).findall(toctree):
        for _, each in () if table.get("hidden") else table["entries"]:
            if each in app.env.found_docs:
                path = posixpath.relpath(each, posixpath.dirname(name) or ".")
                yield f"- [{app.env.titles[each].astext()}]({path}.md)"


def _in_order(app: Sphinx, name: str) -> Iterator[str]:
    """A page, and those that its tables of contents name."""
    yield name
    for each in app.env.toctree_includes.get(name, ()):
        yield from _in_order(app, each)


def _sections(app: Sphinx) -> Iterator[tuple[str, list[str]]]:
    root = app.config.root_doc
    for table in app.env.get_doctree(root).findall(toctree):
        pages = [page for _, each in table["entries"] for page in _in_order(app, each)]
        yield table.get("caption") or "Pages", pages


def _first_sentence(app: Sphinx, name: str) -> str:
    document = app.env.get_doctree(name)
    for found in document.findall(paragraph):
        text = " ".join(found.astext().split())
        return re.split(r"(?<=[.]) ", text)[0]
    return ""


def overview(app: Sphinx) -> str:
    """``llms.txt``: the pages, each with a link to its Markdown and its first sentence."""
    root = app.config.root_doc
    lines = [
        f"# {app.config.project}",
        "",
        f"> {_first_sentence(app, root)}",
        "",
        f"These are the pages for steersman {app.config.version}, as Markdown. llms-full.txt has"
        " all of them in one file, without the API reference and the decisions. `steersman explain`"
        " prints the page of an error, and `steersman COMMAND --help` that of a command, from the"
        " installed package.",
        "",
        f"- [{app.env.titles[root].astext()}]({root}.md): overview",
    ]
    for caption, pages in _sections(app):
        lines += ["", f"## {caption}", ""]
        for name in pages:
            about = _first_sentence(app, name)
            title = app.env.titles[name].astext()
            lines.append(f"- [{title}]({name}.md)" + (f": {about}" if about else ""))
    return "\n".join(lines) + "\n"


# For Sphinx


def _link_to_markdown(
    _app: Sphinx, name: str, _template: str, context: dict[str, Any], document: object
) -> None:
    if document is None:
        return  # the search page and the index have no source
    file = f"{posixpath.basename(name)}.md"
    context["metatags"] += f'<link rel="alternate" type="text/markdown" href="{file}">'
    context["body"] += f'<p><a href="{file}">This page as Markdown</a></p>'


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    texts = {name: markdown(app, name) for name in sorted(app.env.found_docs)}
    for name, text in texts.items():
        file = Path(app.outdir, f"{name}.md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    Path(app.outdir, "llms.txt").write_text(overview(app), encoding="utf-8")
    ordered = dict.fromkeys(_in_order(app, app.config.root_doc))
    full = (
        f"<!-- {name}.md -->\n\n{texts[name]}"
        for name in ordered
        if not name.startswith(ONLY_LISTED)
    )
    Path(app.outdir, "llms-full.txt").write_text("\n".join(full), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("html-page-context", _link_to_markdown)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
