"""The conversion of a custom resource between its stored and its served version."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from steersman.units import same_json
from steersman_cluster.apiserver.custom.webhook_conversion import Conversion, ConversionCache
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.request.resources import ServedResource, WebhookResponses
from steersman_cluster.apiserver.schema.defaults import Defaults, copied
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.pruner import accept
from steersman_cluster.apiserver.webhooks.addresses import webhook_address


def converting(
    served: ServedResource, crd: Object, version: Object, schemas: Mapping[str, Schema]
) -> ServedResource:
    """Return ``served`` with functions that convert objects from and to the stored version.

    ``version`` is the version of the CRD that ``served`` serves. If no conversion is needed, the
    result has no such functions, and objects are served as they are stored.
    """
    spec, generation = crd["spec"], crd["metadata"].get("generation", 1)
    stored = next(each for each in spec["versions"] if each.get("storage"))
    if stored is version and generation == 1:
        # No object has been stored in another version or with another schema.
        return _with_default_status(served)
    every = {f"{spec['group']}/{name}": _Version(schema) for name, schema in schemas.items()}
    served_version, stored_version = (
        f"{spec['group']}/{each['name']}" for each in (version, stored)
    )
    if spec["conversion"]["strategy"] == "Webhook":
        webhook = spec["conversion"]["webhook"]
        by_webhook = partial(
            _by_webhook, served, webhook, every, served_version, stored_version, ConversionCache()
        )
        return replace(served, for_request=by_webhook)

    def from_stored(obj: Object) -> Object:
        return every[served_version].prune({**_read(obj, every), "apiVersion": served_version})

    def to_stored(obj: Object) -> Object:
        renamed = {**obj, "apiVersion": stored_version}
        if same_json(version.get("schema"), stored.get("schema")):
            return renamed
        return every[stored_version].default_for_storage(
            every[stored_version].prune(copied(renamed))
        )

    return replace(served, from_stored=from_stored, to_stored=to_stored)


def _with_default_status(served: ServedResource) -> ServedResource:
    """Return ``served``; an object without a status is served with the default status.

    A create drops the status after defaulting, so the stored object does not contain it.
    """
    schema = served.schema.properties.get("status")
    if schema is None or schema.default is UNSET:
        return served
    status = copied(schema.default)
    Defaults(schema).fill(status)

    def from_stored(obj: Object) -> Object:
        return obj if "status" in obj else {**obj, "status": copied(status)}

    return replace(served, from_stored=from_stored)


class _Version:
    """The schema and the defaults of one version, applied to objects."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._defaults = Defaults(schema)

    def default(self, obj: Object) -> Object:
        """Add all defaults to the object in place, and return it."""
        self._defaults.fill(obj)
        return obj

    def default_for_storage(self, obj: Object) -> Object:
        """Add the defaults to an object that will be stored, and return the object.

        A missing status stays missing; its default is added on each read.
        """
        has_status = "status" in obj
        self._defaults.fill(obj)
        if not has_status:
            obj.pop("status", None)
        return obj

    def prune(self, obj: Object) -> Object:
        """Prune undeclared fields from the object in place, and return the object."""
        accept(obj, self._schema)
        return obj


def _read(obj: Object, every: Mapping[str, _Version]) -> Object:
    """Return a complete copy of a stored object, with the defaults of its stored version."""
    fresh: Object = copied(obj)
    stored_in = every.get(obj["apiVersion"])
    return fresh if stored_in is None else stored_in.default(fresh)


def _by_webhook(
    served: ServedResource,
    webhook: Object,
    every: Mapping[str, _Version],
    served_version: str,
    stored_version: str,
    remembered: ConversionCache,
    responses: WebhookResponses,
    around: StrategyContext,
) -> ServedResource:
    """Return ``served`` with conversion by webhook, for one request."""
    conversion = Conversion(
        webhook["conversionReviewVersions"],
        place=lambda: webhook_address(webhook["clientConfig"], around),
        responses=responses,
        remembered=remembered,
    )

    def from_stored(obj: Object) -> Object:
        return every[served_version].prune(conversion.converted(_read(obj, every), served_version))

    def to_stored(obj: Object) -> Object:
        converted = every[stored_version].prune(conversion.converted(copied(obj), stored_version))
        return every[stored_version].default_for_storage(converted)

    def prefetch(objects: Iterable[Object]) -> None:
        conversion.prefetch((_read(each, every) for each in objects), served_version)

    return replace(served, from_stored=from_stored, to_stored=to_stored, prefetch=prefetch)
