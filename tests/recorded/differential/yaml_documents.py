"""Reads and writes YAML, with libyaml if PyYAML has it."""

import yaml

from tests.recorded.differential.scenario import Json

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def from_yaml(text: str) -> Json:
    """The document in ``text``."""
    return yaml.load(text, _LOADER)  # noqa: S506


def to_yaml(document: Json) -> str:
    """The document as YAML."""
    text: str = yaml.dump(document, Dumper=_DUMPER)
    return text
