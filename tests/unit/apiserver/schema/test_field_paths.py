"""Simple JSON paths in a schema."""

import pytest

from steersman_cluster.apiserver.schema.field_paths import BadFieldPath, resolved
from tests.unit.apiserver.custom.value_samples import INTEGER, STRING, fields, values

SCHEMA = fields(spec=fields(size=INTEGER, labels=values(STRING)))


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        (".spec.size", ("spec", "size")),
        (".spec['size']", ("spec", "size")),
        (".spec.labels['a.b']", ("spec", "labels", "a.b")),
        (r".spec.labels['it\'s']", ("spec", "labels", "it's")),
    ],
)
def test_a_path_is_resolved_to_a_field(path: str, steps: tuple[str, ...]) -> None:
    assert resolved(path, SCHEMA).steps == steps


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".spec.other", "does not refer to a valid field"),
        ("spec", "expected [ or . but got: spec"),
        (".spec.", "unexpected end of JSON path"),
        (".spec[0]", "expected single quoted string but got 0"),
    ],
)
def test_an_invalid_path_is_rejected_with_a_reason(path: str, why: str) -> None:
    with pytest.raises(BadFieldPath, match=f"^{why.replace('[', chr(92) + '[')}$"):
        resolved(path, SCHEMA)


def test_brackets_can_be_disallowed() -> None:
    with pytest.raises(BadFieldPath, match="array notation is not allowed"):
        resolved(".spec['size']", SCHEMA, allows_brackets=False)
