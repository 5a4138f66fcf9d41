"""Validation of definitions and custom resources, as in a request to the server."""

from typing import Any, NamedTuple

import msgspec

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.custom.definition_resources import served
from steersman_cluster.apiserver.custom.definition_status import accepted
from steersman_cluster.apiserver.custom.definition_strategy import DEFINITION
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.builtin_schemas import OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.pruner import accept
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoders, decode, settle

NOW = "2026-01-01T00:00:00Z"
DEFINITION_KIND = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

# These rules do not read other objects.
NOWHERE: StrategyContext = None  # type: ignore[assignment]


class WriteResult(NamedTuple):
    """The result of a request: an error, or the object without the fields that the server sets."""

    code: int
    reason: str
    message: str
    causes: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...]
    obj: Object | None


def rejected(status: Object, warnings: tuple[str, ...] = ()) -> WriteResult:
    """Return the result with this Status; with sorted causes: kube-apiserver's order is random."""
    causes = (status.get("details") or {}).get("causes") or ()
    return WriteResult(
        status["code"],
        status["reason"],
        _sorted(status["message"]),
        tuple(sorted((each["field"], each["reason"], each["message"]) for each in causes)),
        tuple(sorted(warnings)),
        None,
    )


def _sorted(message: str) -> str:
    # kube-apiserver iterates over Go maps, so its lists are in random order.
    head, bracket, rest = message.partition(" is invalid: [")
    return f"{head}{bracket}{''.join(sorted(rest))}"


class StatelessServer:
    """Decodes, defaults and validates as the server does, and stores nothing."""

    def __init__(self) -> None:
        schemas = BuiltinSchemas.read()
        self._expectations = BodyDecoders(schemas)
        self._object_meta: Schema = schemas.named(OBJECT_META)

    def define(self, crd: Object) -> WriteResult:
        """Create a definition."""
        expected = self._expectations.builtin(DEFINITION_KIND)
        try:
            obj, complaints = decode(msgspec.json.encode(crd), expected, content_type="")
            warnings = settle(complaints, expected, field_validation="Warn")
            DEFINITION.default(obj)
            DEFINITION.prepare_create(obj, NOWHERE)
            assert DEFINITION.name_errors_of is not None
            errors = object_meta.validate_create(
                obj["metadata"], namespaced=False, name_errors=DEFINITION.name_errors_of(obj)
            )
            errors += DEFINITION.validate_create(obj)
            errors += DEFINITION.validate(obj)
            warnings += DEFINITION.warnings(obj, None)
            if errors:
                name = obj["metadata"].get("name", "")
                group_kind = "CustomResourceDefinition.apiextensions.k8s.io"
                raise status_errors.invalid(group_kind, name, errors)
        except StatusError as error:
            return rejected(error.status())
        return WriteResult(201, "", "", (), tuple(sorted(warnings)), {"spec": obj["spec"]})

    def established(self, crd: Object) -> tuple[ServedResource, ...]:
        """Return the resources that a valid definition serves."""
        expected = self._expectations.builtin(DEFINITION_KIND)
        obj, _ = decode(msgspec.json.encode(crd), expected, content_type="")
        DEFINITION.default(obj)
        DEFINITION.prepare_create(obj, NOWHERE)
        return served(accepted(obj, (), now=NOW), object_meta=self._object_meta)

    def create(
        self, resource: ServedResource, obj: Object, *, field_validation: str = "Warn"
    ) -> WriteResult:
        """Create a custom resource."""
        expected = self._expectations.custom(resource.gvk)
        rules = resource.strategy
        warnings: list[str] = []
        try:
            obj, complaints = decode(msgspec.json.encode(obj), expected, content_type="")
            complaints += [f'unknown field "{each}"' for each in accept(obj, resource.schema)]
            warnings = settle(complaints, expected, field_validation=field_validation)
            if rules.has_status:
                obj.pop("status", None)
            rules.default(obj)
            errors = object_meta.validate_create(
                obj["metadata"],
                namespaced="namespace" in obj["metadata"],
                name_errors=rules.name_errors,
            )
            errors += rules.validate_create(obj)
            if errors:
                name = obj["metadata"].get("name", "")
                raise status_errors.invalid(resource.group_kind, name, errors)
        except StatusError as error:
            return rejected(error.status(), tuple(warnings))
        warnings += rules.warnings(obj, None)
        return WriteResult(201, "", "", (), tuple(sorted(warnings)), bare(obj))


def bare(obj: Object) -> Object:
    """Return an object without the metadata that the server sets."""
    kept = ("name", "labels", "annotations", "finalizers")
    own: dict[str, Any] = {key: value for key, value in obj["metadata"].items() if key in kept}
    return {**obj, "metadata": own}
