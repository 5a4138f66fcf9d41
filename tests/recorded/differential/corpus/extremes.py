"""The smallest and the largest object of each kind."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.recorded.differential.corpus.kinds import Kind, Place
from tests.recorded.differential.scenario import Changed, Json, Request, Scenario
from tests.recorded.differential.yaml_documents import from_yaml

EXTREMES = Path(__file__).parents[1] / "extremes.yaml"


@cache
def extremes() -> Mapping[str, Mapping[str, Json]]:
    """The smallest and the largest object of each kind, by title, without kind and metadata."""
    found: Mapping[str, Mapping[str, Json]] = from_yaml(EXTREMES.read_text(encoding="utf-8"))
    return found


def scenarios_about(kind: Kind) -> Iterator[Scenario]:
    """The defaults, the stored fields and the response of each."""
    at = Place(kind, "wholes")
    requests = [
        request
        for size, parts in extremes().get(kind.title, {}).items()
        for request in _life(at, size, parts or {})
    ]
    if requests:
        yield at.scenario(*requests)


def _life(at: Place, size: str, parts: Json) -> Iterator[Request]:
    written = json.loads(json.dumps(parts).replace("NAMESPACE", at.slug))

    def whole(short: str) -> Json:
        return at.bare(short, {"labels": {"scenario": at.slug}}, **written)

    yield at.create(f"{size}-created", whole(size))
    yield at.get(f"{size}-read", size)
    yield at.update(f"{size}-written-back", size, Changed(f"{size}-read", {}))
    yield at.create(f"{size}-strict", whole(f"{size}-strict"), {"fieldValidation": "Strict"})
    yield at.apply(f"{size}-applied", f"{size}-a", whole(f"{size}-a"))
    yield at.apply(f"{size}-applied-again", f"{size}-a", whole(f"{size}-a"))
    yield at.patch(f"{size}-labelled", size, {"metadata": {"labels": {"more": "yes"}}})
