"""The conversion of custom resources between versions by a webhook.

A conversion is cached by the content of the object, except for the metadata that a webhook cannot
change. Therefore, a conversion that was cached before the object's write is used after it, too.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from steersman_cluster.apiserver.custom.conversion_reviews import (
    CHANGED,
    SAME,
    UNDERSTOOD,
    ConversionFailed,
    ConversionReview,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.resources import WebhookResponses
from steersman_cluster.apiserver.webhooks import NeedsWebhook
from steersman_cluster.apiserver.webhooks.addresses import WebhookAddress

# The approximate size of the objects in one review. The objects of a list are split into several
# reviews. The converted objects may be several times as large before the response exceeds its
# limit.
MAX_REVIEWED_BYTES: Final = 1024 * 1024

# The size of the cache of converted objects of one version, as JSON; decoded, they take about ten
# times as much. With the cache, lists and watches convert only changed objects. A guess.
MAX_REMEMBERED_BYTES: Final = 16 * 1024 * 1024


class _ConversionKey(NamedTuple):
    """The key of a conversion: the target version and the content of the object."""

    api_version: str
    content: bytes


class ConversionCache:
    """A cache of converted objects with a size limit; the oldest objects are evicted first."""

    def __init__(self) -> None:
        self._converted: dict[_ConversionKey, Object] = {}
        self._bytes = 0

    def get(self, key: _ConversionKey) -> Object | None:
        """Return the converted object for ``key``, or None."""
        return self._converted.get(key)

    def keep(self, key: _ConversionKey, converted: Object) -> None:
        """Cache the object ``converted``, which must not be mutated afterwards."""
        if key in self._converted:
            return
        self._converted[key] = converted
        self._bytes += len(key.content)
        while self._bytes > MAX_REMEMBERED_BYTES:
            oldest = next(iter(self._converted))
            del self._converted[oldest]
            self._bytes -= len(oldest.content)

    def __repr__(self) -> str:
        return f"<ConversionCache {len(self._converted)} conversions, {self._bytes} bytes>"


class Conversion:
    """Converts the objects of one request by webhook."""

    def __init__(
        self,
        reviews: Sequence[str],
        place: Callable[[], WebhookAddress],
        *,
        responses: WebhookResponses,
        remembered: ConversionCache,
    ) -> None:
        self._remembered = remembered
        self._review = next((each for each in reviews if each in UNDERSTOOD), "")
        self._place = place
        self._responses = responses

    def converted(self, obj: Object, api_version: str) -> Object:
        """Return a copy of ``obj`` in ``api_version``; ``obj`` itself if it has that version.

        Raises ``NeedsWebhook`` if the conversion is neither received nor cached yet.
        """
        if obj["apiVersion"] == api_version:
            return obj
        key = _conversion_key(obj, api_version)
        converted = self._lookup(key)
        if converted is None:
            raise NeedsWebhook(self._reviews({key: obj}, api_version))
        if isinstance(converted, ConversionFailed):
            raise StatusError(500, "", converted.message)
        self._remembered.keep(key, converted)
        return _with_its_metadata(converted, obj)

    def prefetch(self, objects: Iterable[Object], api_version: str) -> None:
        """Raise ``NeedsWebhook`` if a conversion of ``objects`` is neither received nor cached.

        The exception contains all missing conversions, so that one call can convert several
        objects.
        """
        wanted: dict[_ConversionKey, Object] = {}
        for each in objects:
            if each["apiVersion"] != api_version:
                key = _conversion_key(each, api_version)
                if self._lookup(key) is None:
                    wanted[key] = each
        if wanted:
            raise NeedsWebhook(self._reviews(wanted, api_version))

    def _lookup(self, key: _ConversionKey) -> Any:
        found = self._responses.get(key)
        if found is None and (found := self._remembered.get(key)) is not None:
            # Kept for the rest of this request, even if the cache evicts it.
            self._responses[key] = found
        return found

    def _reviews(
        self, wanted: dict[_ConversionKey, Object], api_version: str
    ) -> list[ConversionReview]:
        parts: list[dict[Hashable, Object]] = []
        free_bytes = 0
        for key, obj in wanted.items():
            if free_bytes <= 0:
                parts.append({})
                free_bytes = MAX_REVIEWED_BYTES
            parts[-1][key] = obj
            free_bytes -= len(key.content)
        place = self._place()
        return [
            ConversionReview(
                objects=part, api_version=api_version, version=self._review, place=place
            )
            for part in parts
        ]


def _conversion_key(obj: Object, api_version: str) -> _ConversionKey:
    about = obj["metadata"]
    seen = {name: about.get(name) for name in (*CHANGED, *(name for name, _ in SAME))}
    return _ConversionKey(
        api_version, msgspec.json.encode({**obj, "metadata": seen}, order="sorted")
    )


def _with_its_metadata(converted: Object, obj: Object) -> Object:
    """Return a converted copy with the original metadata.

    The fields that a webhook may change keep the converted values.
    """
    fresh: Object = msgspec.json.decode(msgspec.json.encode(converted))
    about = fresh["metadata"]
    kept = {name: value for name, value in obj["metadata"].items() if name not in CHANGED}
    changed = {name: about[name] for name in CHANGED if about.get(name)}
    return {**fresh, "metadata": {**kept, **changed}}
