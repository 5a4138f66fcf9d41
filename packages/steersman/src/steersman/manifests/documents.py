"""Converts objects to documents and YAML: equal objects result in equal text."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import yaml

from steersman.kinds import Codec, Resource

Document: TypeAlias = Mapping[str, Any]

# Lines are not wrapped, because each tool wraps descriptions differently.
_WIDTH: Final = 1_000_000

# Text that kubectl and Helm parse as a number or a boolean, and PyYAML as text, because they use
# other versions of YAML. A key can be such a text, too, like the ``y`` of a point.
_NOT_BARE: Final = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?0o[0-7]+|[yYnN]"
)
# A line end only for some of them.
_ODD_BREAK: Final = re.compile("[\x85\u2028\u2029]")

_CODEC: Final = Codec()

# In every file with documents.
MADE: Final = "Made by `steersman generate` from the operator's types: change those, not this."


def as_document(obj: Resource) -> Document:
    """Return ``obj`` as a JSON value, whose metadata begins with the name and the namespace."""
    document: dict[str, Any] = json.loads(_CODEC.encode(obj))
    metadata = document.get("metadata", {})
    called = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    document["metadata"] = {**called, **metadata}
    return document


def optional_document(document: Document | None) -> tuple[Document, ...]:
    """Return a tuple that contains ``document``, or an empty tuple for ``None``."""
    return () if document is None else (document,)


def yaml_of(documents: Iterable[Document]) -> str:
    """Return ``documents`` as one YAML text, in their order and with their order of fields."""
    texts = (
        yaml.dump(
            document,
            Dumper=_Dumper,
            sort_keys=False,
            allow_unicode=True,
            width=_WIDTH,
        )
        for document in documents
    )
    return "---\n".join(texts)


class _Dumper(yaml.SafeDumper):
    """A YAML dumper with block style for multi-line strings, and without aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - so called there
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if _ODD_BREAK.search(text):
        style: str | None = '"'
    elif "\n" in text:
        style = "|"
    else:
        style = "'" if _NOT_BARE.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
