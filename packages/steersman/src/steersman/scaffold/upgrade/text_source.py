"""Replaces old names in pages, manifests, Makefiles, settings and templates.

    steersman.x.y        a dotted path, and ``from steersman.x import y`` on one line
    --flag               in a command that names steersman or the operator, and in YAML
    a metric             as a complete word, with the suffixes of its series
    steersman[extra]     in a requirement

A fenced Python block in Markdown is renamed like a Python file.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from steersman.scaffold.upgrade.python_source import RenamedFile, renamed_python
from steersman.scaffold.upgrade.rename_map import RenameMap

_DOTTED: Final = re.compile(r"(?<![\w./@-])(?:steersman|steersman_cluster)(?:\.\w+)+(?![\w/@-])")
_FROM: Final = re.compile(
    r"^(?P<before>[ \t>]*)from (?P<module>steersman[\w.]*) import (?P<names>\w+(?:, ?\w+)*)$",
    re.MULTILINE,
)
_EXTRAS: Final = re.compile(r"(?<=steersman\[)[\w, -]+(?=\])")
_FENCED: Final = re.compile(
    r"^(?P<indent>[ \t]*)```python[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL
)
_SERIES: Final = "(?:_bucket|_sum|_count|_total|_created)?"


def renamed_text(
    text: str, renames: RenameMap, *, path: str = "", programs: Iterable[str] = ()
) -> RenamedFile:
    """Return ``text`` with current names; ``path`` determines the type of the file.

    ``programs`` are the commands, besides ``steersman``, that accept steersman's options.
    """
    names: set[tuple[str, str]] = set()
    if path.endswith(".md"):
        text = _FENCED.sub(lambda found: _fenced(found, renames, names), text)
    text = _FROM.sub(lambda found: _from_line(found, renames, names), text)
    text = _DOTTED.sub(lambda found: _dotted(found[0], renames, names), text)
    text = _EXTRAS.sub(_noted(names, lambda found: _extras(found[0], renames)), text)
    if renames.metrics:
        metrics = "|".join(map(re.escape, sorted(renames.metrics, key=len, reverse=True)))
        pattern = rf"(?<!\w)(?:{metrics})(?={_SERIES}(?!\w))"
        text = re.sub(pattern, _noted(names, lambda found: renames.metrics[found[0]]), text)
    if renames.flags:
        text = _with_flags(text, renames, names, everywhere=_is_yaml(path), programs=programs)
    return RenamedFile(text, names)


def _noted(
    names: set[tuple[str, str]], replaced: Callable[[re.Match[str]], str]
) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        new = replaced(found)
        if new != found[0]:
            names.add((found[0], new))
        return new

    return replace


def _dotted(path: str, renames: RenameMap, names: set[tuple[str, str]]) -> str:
    entry = renames.entry(path)
    names.update([entry] if entry else [])
    return renames.current(path)


def _fenced(found: re.Match[str], renames: RenameMap, names: set[tuple[str, str]]) -> str:
    indent, code = found["indent"], found["code"]
    lines = [line.removeprefix(indent) for line in code.splitlines(keepends=True)]
    try:
        renamed = renamed_python("".join(lines), renames)
    except SyntaxError:  # an excerpt
        return found[0]
    names.update(renamed.names)
    again = "".join(
        indent + line if line.strip() else line for line in renamed.text.splitlines(keepends=True)
    )
    return found[0].replace(code, again, 1) if renamed.names else found[0]


def _from_line(found: re.Match[str], renames: RenameMap, names: set[tuple[str, str]]) -> str:
    try:
        renamed = renamed_python(found[0].strip(" \t>"), renames)
    except SyntaxError:
        return found[0]
    names.update(renamed.names)
    return "\n".join(found["before"] + line for line in renamed.text.split("\n"))


def _extras(text: str, renames: RenameMap) -> str:
    extras = [each.strip() for each in text.split(",")]
    if renames.extras.keys().isdisjoint(extras):
        return text
    return ",".join(dict.fromkeys(renames.extras.get(each, each) for each in extras))


def _is_yaml(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))


def _with_flags(
    text: str,
    renames: RenameMap,
    names: set[tuple[str, str]],
    *,
    everywhere: bool,
    programs: Iterable[str],
) -> str:
    flags = "|".join(map(re.escape, sorted(renames.flags, key=len, reverse=True)))
    flag = re.compile(rf"(?<![\w-])(?:{flags})(?![\w-])")
    ours = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, ('steersman', *programs)))})(?!\w)")
    replace = _noted(names, lambda found: renames.flags[found[0]])

    def command(found: re.Match[str]) -> str:
        line = found[0]
        return flag.sub(replace, line) if everywhere or ours.search(line) else line

    # A command continues after a backslash.
    return re.sub(r"(?:[^\n\\]|\\\n|\\.)+", command, text)
