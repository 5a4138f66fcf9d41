"""The requests to a conversion webhook, and the cache of its responses."""

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
    """Converts whatever it is asked about, or says why it does not."""

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


def asked(of: Conversion, *objects: dict[str, Any]) -> list[ConversionReview]:
    """The reviews that are sent ahead of showing the objects."""
    try:
        of.prefetch(objects, V2)
    except NeedsWebhook as missing:
        return [each for each in missing.calls if isinstance(each, ConversionReview)]
    return []


async def converted(
    obj: dict[str, Any], remembered: ConversionCache, webhook: Webhook | None = None
) -> dict[str, Any]:
    """The object, by a request of its own that asks for nothing else."""
    responses: WebhookResponses = {}
    here = conversion(responses, remembered)
    for review in asked(here, obj):
        responses |= await review.send(webhook or Webhook(), uid="1")
    return here.converted(obj, V2)


async def test_an_object_comes_back_with_the_metadata_that_it_had() -> None:
    obj = thing("a", "x", generation=3, labels={"a": "b"})

    assert await converted(obj, ConversionCache()) == {**obj, "apiVersion": V2}


def test_what_has_the_version_is_neither_asked_about_nor_copied() -> None:
    obj = {**thing("a"), "apiVersion": V2}
    here = conversion({}, ConversionCache())

    assert asked(here, obj) == []
    assert here.converted(obj, V2) is obj


async def test_a_conversion_is_reused_where_only_fixed_metadata_differs() -> None:
    remembered = ConversionCache()
    await converted(thing("a", "x", resourceVersion="1"), remembered)

    again = thing("a", "x", resourceVersion="2", finalizers=["example.com/held"])
    here = conversion({}, remembered)

    assert asked(here, again) == []
    assert here.converted(again, V2)["metadata"] == again["metadata"]


@pytest.mark.parametrize(
    "other",
    [
        thing("a", "y"),
        thing("a", "x", labels={"a": "b"}),
        thing("b", "x"),
        thing("a", "x", uid="b"),
    ],
)
async def test_what_differs_otherwise_is_asked_about(other: dict[str, Any]) -> None:
    remembered = ConversionCache()
    await converted(thing("a", "x"), remembered)

    assert len(asked(conversion({}, remembered), other)) == 1


async def test_a_failure_is_reported_and_not_remembered() -> None:
    remembered = ConversionCache()

    with pytest.raises(StatusError) as refused:
        await converted(thing("a"), remembered, Webhook(failure="no"))

    assert refused.value.message == f"conversion webhook for {V1}, Kind=Thing failed: no"
    assert (await converted(thing("a"), remembered))["apiVersion"] == V2


def test_a_list_is_asked_about_in_reviews_that_can_be_answered() -> None:
    large = "x" * (MAX_REVIEWED_BYTES // 4)
    objects = [thing(f"a{number}", large) for number in range(10)]

    reviews = asked(conversion({}, ConversionCache()), *objects)

    assert len(reviews) == 3
    assert [each for review in reviews for each in review.objects.values()] == objects


async def test_the_oldest_answers_are_forgotten_where_there_are_too_many() -> None:
    remembered = ConversionCache()
    objects = [thing(f"a{number}", "x" * (MAX_REMEMBERED_BYTES // 4)) for number in range(4)]
    for each in objects:
        await converted(each, remembered)

    assert len(asked(conversion({}, remembered), objects[0])) == 1
    assert asked(conversion({}, remembered), *objects[1:]) == []


async def test_what_one_request_has_found_is_not_taken_away_from_it() -> None:
    remembered, responses = ConversionCache(), WebhookResponses()
    first = thing("first")
    await converted(first, remembered)
    here = conversion(responses, remembered)
    here.prefetch([first], V2)

    await converted(thing("a", "x" * MAX_REMEMBERED_BYTES), remembered)

    assert len(asked(conversion({}, remembered), first)) == 1
    assert here.converted(first, V2)["metadata"] == first["metadata"]


def test_nothing_of_an_object_is_seen_in_the_name_of_a_review() -> None:
    (review,) = asked(conversion({}, ConversionCache()), thing("a", "hunter2"))

    assert "hunter2" not in repr(review)


async def test_a_webhook_that_understands_no_review_is_not_asked() -> None:
    here = Conversion(["v7"], lambda: PLACE, responses={}, remembered=ConversionCache())
    (review,) = asked(here, thing("a"))

    (response,) = (await review.send(Webhook(), uid="1")).values()

    assert isinstance(response, ConversionFailed)
    assert response.message.endswith("failed: no supported conversion review versions")
