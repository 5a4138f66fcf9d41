"""Objects as documents, and documents as YAML: the same text for the same objects, every time."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import yaml

from steersman.kinds import Codec, Resource

Document: TypeAlias = Mapping[str, Any]

# Nobody wraps lines in a manifest: a description that is folded differs in every tool.
_WIDTH: Final = 1_000_000

_CODEC: Final = Codec()


def as_document(obj: Resource) -> Document:
    """The object as it is on the wire."""
    document: Document = json.loads(_CODEC.encode(obj))
    return document


def yaml_of(documents: Iterable[Document]) -> str:
    """All of them as one text, in their order, each with its fields in theirs."""
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
    """Text of several lines is shown as such, and nothing is an alias of anything."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
