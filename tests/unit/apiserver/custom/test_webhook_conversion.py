"""Requests to a conversion webhook, and the cache of its responses."""

from typing import Any

import msgspec
import pytest

from steersman_cluster.apiserver.custom.conversion_reviews import ConversionFailed, ConversionReview
from steersman_cluster.apiserver.custom.webhook_conversion import (
    MAX_REMEMBERED_BYTES,
    MAX_REVIEWED_BYTES,
    Conversion,
    ConversionCache,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.resources import WebhookResponses
from steersman_cluster.apiserver.webhooks import NeedsWebhook, WebhookResponse
from steersman_cluster.apiserver.webhooks.addresses import WebhookAddress

V1, V2 = "example.com/v1", "example.com/v2"
PLACE = WebhookAddress(url="https://webhook.example.com")


class Webhook:
    """Converts every object, or responds with a failure."""

    def __init__(self, failure: str = "") -> None:
        self._failure = failure

    async def post(self, url: str, body: bytes, **how: Any) -> WebhookResponse:
        review = msgspec.json.decode(body)
        request = review["request"]
        converted = [{**each, "apiVersion": V2} for each in request["objects"]]
        result = {"status": "Failure" if self._failure else "Success", "message": self._failure}
        response = {"uid": request["uid"], "convertedObjects": converted, "result": result}
        reviewed = {
            "kind": review["kind"],
            "apiVersion": review["apiVersion"],
            "response": response,
        }
        return WebhookResponse(200, {}, msgspec.json.encode(reviewed))


def thing(name: str, value: str = "", **about: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": name, **about}
    return {"apiVersion": V1, "kind": "Thing", "metadata": metadata, "spec": {"value": value}}


def conversion(responses: WebhookResponses, remembered: ConversionCache) -> Conversion:
    return Conversion(["v1"], lambda: PLACE, responses=responses, remembered=remembered)


def reviews_of(of: Conversion, *objects: dict[str, Any]) -> list[ConversionReview]:
    """Return the reviews that a prefetch of the objects sends."""
    try:
        of.prefetch(objects, V2)
    except NeedsWebhook as missing:
        return [each for each in missing.calls if isinstance(each, ConversionReview)]
    return []


async def converted(
    obj: dict[str, Any], remembered: ConversionCache, webhook: Webhook | None = None
) -> dict[str, Any]:
    """Return the object, converted in a request of its own."""
    responses: WebhookResponses = {}
    current = conversion(responses, remembered)
    for review in reviews_of(current, obj):
        responses |= await review.send(webhook or Webhook(), uid="1")
    return current.converted(obj, V2)


async def test_a_converted_object_keeps_its_metadata() -> None:
    obj = thing("a", "x", generation=3, labels={"a": "b"})

    assert await converted(obj, ConversionCache()) == {**obj, "apiVersion": V2}


def test_an_object_in_the_requested_version_is_not_converted_or_copied() -> None:
    obj = {**thing("a"), "apiVersion": V2}
    current = conversion({}, ConversionCache())

    assert reviews_of(current, obj) == []
    assert current.converted(obj, V2) is obj


async def test_a_conversion_is_reused_if_only_fixed_metadata_differs() -> None:
    remembered = ConversionCache()
    await converted(thing("a", "x", resourceVersion="1"), remembered)

    again = thing("a", "x", resourceVersion="2", finalizers=["example.com/held"])
    current = conversion({}, remembered)

    assert reviews_of(current, again) == []
    assert current.converted(again, V2)["metadata"] == again["metadata"]


@pytest.mark.parametrize(
    "other",
    [
        thing("a", "y"),
        thing("a", "x", labels={"a": "b"}),
        thing("b", "x"),
        thing("a", "x", uid="b"),
    ],
)
async def test_an_object_with_other_differences_is_converted_again(other: dict[str, Any]) -> None:
    remembered = ConversionCache()
    await converted(thing("a", "x"), remembered)

    assert len(reviews_of(conversion({}, remembered), other)) == 1


async def test_a_failed_conversion_is_reported_and_not_cached() -> None:
    remembered = ConversionCache()

    with pytest.raises(StatusError) as raised:
        await converted(thing("a"), remembered, Webhook(failure="no"))

    assert raised.value.message == f"conversion webhook for {V1}, Kind=Thing failed: no"
    assert (await converted(thing("a"), remembered))["apiVersion"] == V2


def test_a_large_list_is_converted_in_several_reviews() -> None:
    large = "x" * (MAX_REVIEWED_BYTES // 4)
    objects = [thing(f"a{number}", large) for number in range(10)]

    reviews = reviews_of(conversion({}, ConversionCache()), *objects)

    assert len(reviews) == 3
    assert [each for review in reviews for each in review.objects.values()] == objects


async def test_the_oldest_conversions_are_evicted_from_a_full_cache() -> None:
    remembered = ConversionCache()
    objects = [thing(f"a{number}", "x" * (MAX_REMEMBERED_BYTES // 4)) for number in range(4)]
    for each in objects:
        await converted(each, remembered)

    assert len(reviews_of(conversion({}, remembered), objects[0])) == 1
    assert reviews_of(conversion({}, remembered), *objects[1:]) == []


async def test_an_evicted_conversion_stays_available_to_the_current_request() -> None:
    remembered, responses = ConversionCache(), WebhookResponses()
    first = thing("first")
    await converted(first, remembered)
    current = conversion(responses, remembered)
    current.prefetch([first], V2)

    await converted(thing("a", "x" * MAX_REMEMBERED_BYTES), remembered)

    assert len(reviews_of(conversion({}, remembered), first)) == 1
    assert current.converted(first, V2)["metadata"] == first["metadata"]


def test_the_repr_of_a_review_does_not_contain_the_object() -> None:
    (review,) = reviews_of(conversion({}, ConversionCache()), thing("a", "hunter2"))

    assert "hunter2" not in repr(review)


async def test_a_webhook_without_a_supported_review_version_is_not_called() -> None:
    current = Conversion(["v7"], lambda: PLACE, responses={}, remembered=ConversionCache())
    (review,) = reviews_of(current, thing("a"))

    (response,) = (await review.send(Webhook(), uid="1")).values()

    assert isinstance(response, ConversionFailed)
    assert response.message.endswith("failed: no supported conversion review versions")
