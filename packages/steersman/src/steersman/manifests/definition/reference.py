"""The API reference in Markdown, from CustomResourceDefinitions: one table for each kind of object.

The reference is readable as plain text and in a browser. Links lead to explicit anchors, because
renderers derive different anchors from headings.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from steersman.errors import NoSample
from steersman.manifests.definition.definition import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    META_FIELDS,
    PRESERVE,
    VALIDATIONS,
    Definition,
    Schema,
    Version,
    alternatives,
    default_of,
    properties_of,
    read_definition,
    required_of,
)
from steersman.manifests.definition.sample import sample_of
from steersman.manifests.definition.validation import child_path
from steersman.manifests.documents import Document, yaml_of

# The fields of a condition in every API; a table lists only further ones.
_CONDITION: Final = frozenset(
    ("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
)
_HEAD: Final = ("Field", "Type", "Required", "Default", "Description")


def reference_of(crds: Sequence[Document]) -> str:
    """Return the API reference of ``crds``, which has one section for each, in their order."""
    read = [(read_definition(each), each) for each in crds]
    anchors = _Anchors()
    sections = [_kind(definition, document, anchors) for definition, document in read]
    contents = [
        f"- [{definition.kind}](#{_slug(definition.kind)}), of {_code(definition.group)}: "
        + ", ".join(
            f"[{each.name}](#{_slug(definition.kind, each.name)})" for each in definition.versions
        )
        for definition, _ in read
    ]
    return "\n\n".join(["# API reference", "\n".join(contents), *sections]).rstrip("\n") + "\n"


class _Anchors:
    """Generates unique anchor names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, *words: str) -> str:
        name = anchor = _slug(*words)
        number = 2
        while anchor in self._taken:
            anchor, number = f"{name}-{number}", number + 1
        self._taken.add(anchor)
        return anchor


def _slug(*words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def _kind(definition: Definition, document: Document, anchors: _Anchors) -> str:
    words = [definition.plural, definition.singular, *definition.words("shortNames")]
    facts = [
        f"- Group: {_code(definition.group)}",
        f"- Names for kubectl: {_codes(dict.fromkeys(words))}",
        f"- Scope: {'namespaced' if definition.namespaced else 'cluster'}",
        f"- Versions: {', '.join(map(_version_notes, definition.versions))}",
    ]
    if categories := definition.words("categories"):
        facts.insert(2, f"- Categories: {_codes(categories)}")
    parts = [_heading(2, definition.kind, anchors.of(definition.kind)), "\n".join(facts)]
    for version in definition.versions:
        page = _Page(definition, version, anchors)
        parts += [*page.sections(), *_sample(document, version)]
    return "\n\n".join(parts)


def _version_notes(version: Version) -> str:
    notes = [word for word, holds in (("stored", version.stored),) if holds]
    notes += [] if version.served else ["not served"]
    if version.deprecated:
        notes.append(f"deprecated: {version.warning}" if version.warning else "deprecated")
    return f"{version.name} ({'; '.join(notes)})" if notes else version.name


def _heading(level: int, title: str, anchor: str) -> str:
    return f'<a id="{anchor}"></a>\n\n{"#" * level} {title}'


@dataclass
class _Page:
    """One version of a kind, with a queue of the nested objects that need a table."""

    definition: Definition
    version: Version
    anchors: _Anchors
    waiting: list[tuple[str, str, Schema]] = field(default_factory=list[tuple[str, str, Schema]])
    known: dict[str, str] = field(default_factory=dict[str, str])
    """The anchor of each object's table, by the JSON of the object's schema."""

    def sections(self) -> Iterator[str]:
        kind, version = self.definition.kind, self.version
        schema = version.schema
        yield _heading(3, f"{kind} {version.name}", self.anchors.of(kind, version.name))
        yield from _paragraphs(schema)
        shown = {k: v for k, v in properties_of(schema).items() if k not in META_FIELDS}
        yield from self._fields({**schema, "properties": shown}, "")
        while self.waiting:
            path, anchor, inner = self.waiting.pop(0)
            yield _heading(4, f"{kind} {version.name}: {_code(path)}", anchor)
            yield from _paragraphs(inner)
            before, self.waiting = self.waiting, []
            yield from self._fields(inner, path)
            self.waiting += before  # nested fields come before the following ones
        yield from self._beyond_fields()

    def _fields(self, schema: Schema, path: str) -> Iterator[str]:
        needed = required_of(schema)
        rows = [
            (
                _code(name),
                self._type(each, child_path(path, name)),
                "yes" if name in needed else "",
                "" if default_of(each) is None else _code(_json(default_of(each))),
                " ".join(
                    [*filter(None, [_cell(str(each.get("description") or ""))]), *_rules(each)]
                ),
            )
            for name, each in properties_of(schema).items()
        ]
        if rows:
            yield _table(_HEAD, rows)
        rules = [_cel(each) for each in schema.get(VALIDATIONS) or ()]
        if rules := [f"- {each}" for each in (*rules, *_alternatives(schema))]:
            yield "\n".join(["Rules:", "", *rules])

    def _type(self, schema: Schema, path: str) -> str:
        if schema.get(INT_OR_STRING):
            return "integer or string"
        match schema.get("type"):
            case "array":
                items: Schema = schema.get("items") or {}
                if path.endswith("conditions") and properties_of(items).keys() == _CONDITION:
                    return "list of conditions"
                return f"list of {self._type(items, f'{path}[]')}"
            case "object" if properties_of(schema):
                return self._link(schema, path)
            case "object" if isinstance(schema.get("additionalProperties"), Mapping):
                return f"map of {self._type(schema['additionalProperties'], child_path(path, '*'))}"
            case "object":
                return "Kubernetes object" if schema.get(EMBEDDED) else "object"
            case None:
                return "anything"
            case simple:
                return str(simple)

    def _link(self, schema: Schema, path: str) -> str:
        """Return a link to the table of the object; identical schemas share one table."""
        encoded = json.dumps(schema, sort_keys=True, default=str)
        if encoded not in self.known:
            anchor = self.anchors.of(self.definition.kind, self.version.name, path)
            self.known[encoded] = anchor
            self.waiting.append((path, anchor, schema))
        return f"[object](#{self.known[encoded]})"

    def _beyond_fields(self) -> Iterator[str]:
        version = self.version
        status = properties_of(properties_of(version.schema).get("status", {}))
        items: Schema = status.get("conditions", {}).get("items") or {}
        if types := properties_of(items).get("type", {}).get("enum"):
            yield f"Conditions in `status.conditions`: {_codes(map(str, types))}."
        if version.columns:
            rows = [
                (
                    _cell(str(each.get("name") or "")),
                    _code(str(each.get("jsonPath") or "")),
                    " ".join(
                        filter(
                            None,
                            (
                                _cell(str(each.get("description") or "")),
                                "Only with `-o wide`." if each.get("priority") else "",
                            ),
                        )
                    ),
                )
                for each in version.columns
            ]
            yield "Columns of `kubectl get`:"
            yield _table(("Column", "Path", "Description"), rows)
        if version.selectable_fields:
            yield f"Selectable fields: {_codes(version.selectable_fields)}."
        if scale := version.subresources.get("scale"):
            verbs = {"specReplicasPath": "sets", "statusReplicasPath": "reports"}
            paths = [f"{verb} {_code(str(scale.get(key)))}" for key, verb in verbs.items()]
            if scale.get("labelSelectorPath"):
                paths.append(f"selects Pods by {_code(str(scale['labelSelectorPath']))}")
            yield f"The subresource `/scale` {', '.join(paths)}."


def _sample(document: Document, version: Version) -> Iterator[str]:
    try:
        sample = sample_of(document, version.name)
    except NoSample:
        return
    yield f"Example:\n\n```yaml\n{yaml_of([sample])}```"


def _paragraphs(schema: Schema) -> Iterator[str]:
    if text := str(schema.get("description") or "").strip():
        yield "\n".join(_plain(line.rstrip()) for line in text.splitlines())


def _rules(schema: Schema) -> Iterator[str]:
    """Yield the constraints of a schema, one sentence each."""
    if schema.get("enum"):
        yield f"One of {_codes(map(_json_or_text, schema['enum']))}."
    for low, high, words in (
        ("minLength", "maxLength", ("character", "characters")),
        ("minItems", "maxItems", ("item", "items")),
        ("minProperties", "maxProperties", ("entry", "entries")),
    ):
        if schema.get(low):
            yield f"At least {_counted(schema[low], words)}."
        if schema.get(high) is not None:
            yield f"At most {_counted(schema[high], words)}."
    if schema.get("minimum") is not None:
        than = "More than" if schema.get("exclusiveMinimum") else "At least"
        yield f"{than} {schema['minimum']}."
    if schema.get("maximum") is not None:
        than = "Less than" if schema.get("exclusiveMaximum") else "At most"
        yield f"{than} {schema['maximum']}."
    if schema.get("multipleOf"):
        yield f"A multiple of {schema['multipleOf']}."
    if schema.get("pattern"):
        yield f"Matches {_code(schema['pattern'])}."
    if schema.get("format") not in (None, "", "int64", "double"):  # these need no mention
        yield f"Format: {_code(schema['format'])}."
    if schema.get("nullable"):
        yield "May be null."
    if schema.get(LIST_TYPE) == "set":
        yield "No duplicate items."
    if schema.get(LIST_TYPE) == "map":
        yield f"Items are identified by {_codes(schema.get(LIST_MAP_KEYS) or ())}."
    if schema.get(PRESERVE):
        yield "Keeps fields that are not listed."
    if properties_of(schema):
        return  # its table contains the rest
    yield from map(_cel, schema.get(VALIDATIONS) or ())
    yield from _alternatives(schema)
    for inside in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inside, Mapping):
            yield from (f"Each {rule[0].lower()}{rule[1:]}" for rule in _rules(inside))


def _counted(number: int, words: tuple[str, str]) -> str:
    return f"{number} {words[number != 1]}"


def _cel(rule: Any) -> str:
    message = _cell(str(rule.get("message") or "")).rstrip(".")
    return f"{_code(str(rule.get('rule')))}{f': {message}' if message else ''}."


def _alternatives(schema: Schema) -> Iterator[str]:
    for key, words in (("oneOf", "Exactly one"), ("anyOf", "At least one"), ("allOf", "All")):
        found = alternatives(schema, key)
        if found and all(each.keys() == {"required"} for each in found):
            fields = (" with ".join(map(_code, each["required"])) for each in found)
            yield f"{words} of {', '.join(fields)}."
        elif found:
            yield f"{words} of {_codes(map(_json, found))}."
    if schema.get("not") is not None:
        yield f"Not {_code(_json(schema['not']))}."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns; the last column is not padded."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head) - 1)]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        return f"| {' | '.join([*padded, cells[-1]])} |".replace("|  |", "| |")

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|---|"
    return "\n".join([line(head), rule, *map(line, rows)])


def _codes(words: Iterable[str]) -> str:
    return ", ".join(map(_code, words))


def _code(text: str) -> str:
    """Return the text as inline code.

    Vertical bars are escaped, because a Markdown table requires that even in code.
    """
    text = " ".join(text.split()) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def _cell(text: str) -> str:
    return _plain(" ".join(text.split())).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return the text as Markdown, with ``<`` escaped so that no text becomes an HTML tag.

    Inline code is left unchanged, because Markdown reads no HTML in code.
    """
    parts = re.split(r"(`+[^`]*`+)", text)
    return "".join(
        part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts)
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json_or_text(value: Any) -> str:
    return value if isinstance(value, str) and value else _json(value)
