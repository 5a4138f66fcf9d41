"""Renders documents that contain placeholders as Helm templates.

Helm replaces only the placeholders. All other content of a document is rendered literally: two
braces in a description stay two braces.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steersman.manifests.documents import yaml_of

_BRACES: Final = "{{"
# A template action that prints two braces.
_LITERAL_BRACES: Final = '{{ "{{" }}'

# The end of a document that is a multi-line text; here, more lines follow.
_END: Final = "\n...\n"


@dataclass(frozen=True, slots=True)
class TemplateString:
    """A string with template actions, which Helm replaces by letters, digits and dashes only."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A placeholder for an integer: the result of the template expression ``expression``."""

    expression: str


@dataclass(frozen=True, slots=True)
class OptionalExpression:
    """A placeholder for the result of ``expression``, which may be empty.

    - As the value of a key: if the result is empty, the key is omitted too.
    - As an item of a list: the result is a list, whose items are inserted into the outer list.
    - As a key: the result is a mapping, whose entries are inserted into the outer mapping.
    """

    expression: str


@dataclass(frozen=True, slots=True)
class Conditional:
    """A value with its key, or items of a list, rendered only if ``condition`` is true."""

    condition: str
    value: Any


def literal(text: str) -> str:
    """Return a Helm template that renders ``text``."""
    return text.replace(_BRACES, _LITERAL_BRACES)


def template_of(document: Mapping[Any, Any], *, when: str | None = None) -> str:
    """Return a Helm template that renders ``document``.

    With ``when``, the template renders the document only if that condition is true.
    """
    text = "\n".join(_entries(document, 0)) + "\n"
    # Trimmed only on this side, where no text of the user begins or ends.
    return text if when is None else f"{{{{ if {when} -}}}}\n{text}{{{{ end -}}}}\n"


def _entries(mapping: Mapping[Any, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, value in mapping.items():
        match key, value:
            case OptionalExpression(expression), _:
                yield from _inserted(expression, indent)
            case _, Conditional(condition, inner):
                yield f"{pad}{{{{- if {condition} }}}}"
                yield from _entry(key, inner, indent)
                yield f"{pad}{{{{- end }}}}"
            case _, OptionalExpression(expression):
                yield f"{pad}{{{{- with {expression} }}}}"
                yield f"{pad}{key}:"
                yield f"{pad}  {{{{- toYaml . | nindent {indent + 2} }}}}"
                yield f"{pad}{{{{- end }}}}"
            case _:
                yield from _entry(key, value, indent)


def _entry(key: str, value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    match value:
        case _ if _is_whole(value):
            yield from _plain({key: value}, indent)
        case TemplateString(text):
            yield f'{pad}{key}: "{text}"'
        case Number(expression):
            yield f"{pad}{key}: {{{{ int {expression} }}}}"
        case Mapping():
            yield f"{pad}{key}:"
            yield from _entries(value, indent + 2)
        case Sequence():
            yield f"{pad}{key}:"
            yield from _items(value, indent)
        case _:
            raise TypeError(
                f"{key}: {value!r} contains a value that is neither YAML nor a placeholder"
            )


def _items(items: Sequence[Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for item in items:
        match item:
            case _ if _is_whole(item):
                yield from _plain([item], indent)
            case TemplateString(text):
                yield f'{pad}- "{text}"'
            case OptionalExpression(expression):
                yield from _inserted(expression, indent)
            case Conditional(condition, inner):
                yield f"{pad}{{{{- if {condition} }}}}"
                yield from _items(inner, indent)
                yield f"{pad}{{{{- end }}}}"
            case Mapping():
                first, *others = _entries(item, indent + 2)
                if first.lstrip().startswith(_BRACES):
                    raise TypeError(
                        f"the list item {item!r} begins with a placeholder that can be empty; put"
                        " another key first"
                    )
                yield f"{pad}- {first.lstrip()}"
                yield from others
            case _:
                raise TypeError(f"the list item {item!r} is neither YAML nor a placeholder")


def _inserted(expression: str, indent: int) -> Iterator[str]:
    pad = " " * indent
    yield f"{pad}{{{{- with {expression} }}}}"
    yield f"{pad}{{{{- toYaml . | nindent {indent} }}}}"
    yield f"{pad}{{{{- end }}}}"


def _plain(whole: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    text = literal(yaml_of([whole]))
    if text.endswith(_END):
        text = text.removesuffix(_END) + "\n"
    for line in text.removesuffix("\n").split("\n"):
        yield pad + line if line else line


def _is_whole(node: Any) -> bool:
    """Whether the node contains no placeholder."""
    if isinstance(node, Mapping):
        return all(isinstance(key, str) and _is_whole(value) for key, value in node.items())
    if isinstance(node, list | tuple):
        return all(map(_is_whole, node))
    return not isinstance(node, TemplateString | Number | OptionalExpression | Conditional)
