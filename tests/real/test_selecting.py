"""The server evaluates selectors as ``matches`` does."""

from collections.abc import Mapping

import pytest

from steersman.client import Client, Fields, Labels
from steersman.errors import BadRequest
from steersman.kinds import core_v1, meta_v1
from tests.real.objects import config_map, create_config_maps

LABELED: Mapping[str, Mapping[str, str]] = {
    "bare": {},
    "empty": {"size": ""},
    "word": {"size": "large"},
    "zero": {"size": "0"},
    "three": {"size": "3", "app.example.com/tier": "front"},
    "padded": {"size": "007", "app.example.com/tier": "back"},
    "ten": {"size": "10", "app.example.com/tier": ""},
    "grouped": {"size": "1_000"},
    "hex": {"size": "0x10"},
    "half": {"size": "7.5"},
    "longest": {"size": str(2**63 - 1)},
    "too-long": {"size": str(2**63)},
}

SELECTORS = (
    Labels(),
    Labels.equal({"size": "3"}),
    Labels.equal({"size": ""}),
    Labels.equal({"size": "3", "app.example.com/tier": "front"}),
    Labels.one_of("size", ["3", "10"]),
    Labels.one_of("size", ["", "large"]),
    Labels.none_of("size", ["3"]),
    Labels.none_of("size", ["3", "", "007"]),
    Labels.has("size"),
    Labels.has("app.example.com/tier"),
    Labels.lacks("size"),
    Labels.lacks("app.example.com/tier"),
    Labels.greater_than("size", 0),
    Labels.greater_than("size", 3),
    Labels.greater_than("size", 7),
    Labels.greater_than("size", 2**63 - 1),
    Labels.less_than("size", 0),
    Labels.less_than("size", 8),
    Labels.less_than("size", 2**63 - 1),
    Labels.has("size") & Labels.lacks("app.example.com/tier"),
    Labels.greater_than("size", 1) & Labels.less_than("size", 10),
    Labels.none_of("app.example.com/tier", ["front"]) & Labels.greater_than("size", 1),
)


@pytest.fixture
async def labeled(client: Client, namespace: str) -> str:
    """A namespace with a ConfigMap for each of ``LABELED``."""
    for name, labels in LABELED.items():
        await client.create(config_map(namespace, name, labels=labels))
    return namespace


async def names(
    client: Client, namespace: str, labels: Labels | None = None, fields: Fields | None = None
) -> set[str]:
    listing = await client.list(
        core_v1.ConfigMap, namespace=namespace, labels=labels, fields=fields
    )
    return {each.name for each in listing.items}


async def test_the_server_returns_the_objects_that_a_label_selector_matches(
    client: Client, labeled: str
) -> None:
    for selector in SELECTORS:
        matching = {name for name, labels in LABELED.items() if selector.matches(labels)}

        assert await names(client, labeled, selector) == matching, str(selector)


async def test_a_label_selector_parses_its_own_text(client: Client, labeled: str) -> None:
    for selector in SELECTORS:
        parsed = Labels.parse(str(selector))

        assert await names(client, labeled, parsed) == await names(client, labeled, selector)


async def test_label_operators_select_by_equality_membership_presence_and_order(
    client: Client, labeled: str
) -> None:
    tier = "app.example.com/tier"

    assert await names(client, labeled, Labels.equal({tier: "front"})) == {"three"}
    assert await names(client, labeled, Labels.one_of(tier, ["front", "back"])) == {
        "three",
        "padded",
    }
    assert "bare" in await names(client, labeled, Labels.none_of(tier, ["front"]))
    assert await names(client, labeled, Labels.has(tier)) == {"three", "padded", "ten"}
    assert "three" not in await names(client, labeled, Labels.lacks(tier))
    assert await names(client, labeled, Labels.greater_than("size", 7)) == {"ten", "longest"}
    assert await names(client, labeled, Labels.less_than("size", 7)) == {"zero", "three"}


async def test_field_selectors_select_by_equality_and_difference(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")

    only_b = Fields.equal({"metadata.name": "b"})
    not_b = Fields.differ({"metadata.name": "b"})
    only_c = not_b & Fields.differ({"metadata.name": "a"})

    assert await names(client, namespace, fields=only_b) == {"b"}
    assert await names(client, namespace, fields=not_b) == {"a", "c"}
    assert await names(client, namespace, fields=only_c) == {"c"}


async def test_label_and_field_selectors_select_together(client: Client, labeled: str) -> None:
    both = await names(
        client, labeled, Labels.greater_than("size", 1), Fields.differ({"metadata.name": "ten"})
    )

    assert both == {"three", "padded", "longest"}


async def test_a_field_selector_can_contain_any_text(client: Client, namespace: str) -> None:
    special = r"a,b=c\d!=e"
    for name, reason in (("special", special), ("plain", "a"), ("other", r"a,b=c\\d!=e")):
        await client.create(
            core_v1.Event(
                metadata=meta_v1.ObjectMeta(name=name, namespace=namespace),
                involved_object=core_v1.ObjectReference(namespace=namespace),
                reason=reason,
            )
        )

    found = await client.list(
        core_v1.Event, namespace=namespace, fields=Fields.equal({"reason": special})
    )
    others = await client.list(
        core_v1.Event, namespace=namespace, fields=Fields.differ({"reason": special})
    )

    assert [each.name for each in found.items] == ["special"]
    assert [each.name for each in others.items] == ["other", "plain"]


async def test_a_field_without_selector_support_is_rejected(client: Client, namespace: str) -> None:
    with pytest.raises(BadRequest, match="not a known field selector"):
        await names(client, namespace, fields=Fields.equal({"data.color": "blue"}))
