"""StorageClasses and VolumeAttachments."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.node_labels import label_warning
from steersman_cluster.apiserver.builtin.common_defaults import fill, protected_by
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.volume_sources import DRIVER_NAME
from steersman_cluster.apiserver.builtin.storage.persistent_volumes import (
    default_volume_spec,
    volume_spec_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    immutable,
    invalid,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_subdomain,
    label_key,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_MAX_PARAMETERS: Final = 512
_LARGEST: Final = 256 * 1024  # of parameters, and of an attachment's metadata
_MAX_MESSAGE_LENGTH: Final = 1024


def _default_class(storage_class: Object) -> None:
    fill(storage_class, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _size(texts: Mapping[str, str]) -> int:
    return sum(len(key.encode()) + len(value.encode()) for key, value in texts.items())


def _key_errors(parameters: Mapping[str, str], path: str) -> Iterator[FieldError]:
    for key in parameters:
        if not key:
            yield invalid(path, key, "field can not be empty.")


_SMALL: Final = rule.code(
    lambda texts, path: [too_long(path, "", _LARGEST)] if _size(texts) > _LARGEST else []
)
_PARAMETERS: Final = rule.given(
    "parameters",
    rule.first(
        rule.code(
            lambda parameters, path: (
                [too_long(path, "", _MAX_PARAMETERS)] if len(parameters) > _MAX_PARAMETERS else []
            )
        ),
        rule.table(rule.code(_key_errors), _SMALL),
    ),
)
_DRIVER: Final = rule.code(
    lambda name, path: all_invalid(path, name.lower(), label_key(name.lower()))
)


def _topology_errors(topologies: list[Object], root: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: list[dict[str, set[str]]] = []
    for index, topology in enumerate(topologies):
        path = f"{root}[{index}].matchLabelExpressions"
        term: dict[str, set[str]] = {}
        for at, each in enumerate(topology.get("matchLabelExpressions") or ()):
            key = each.get("key", "")
            errors += _TOPOLOGY_EXPRESSION(each, f"{path}[{at}]")
            if key in term:
                errors.append(duplicate(f"{path}[{at}].key", key))
            term[key] = set(each.get("values") or ())
        errors += [duplicate(path, "") for other in seen if other == term]
        if not term:
            # kube-apiserver preallocates as many empty terms as there are topologies, and compares
            # with all of them.
            errors += [duplicate(path, "")] * len(topologies)
        seen.append(term)
    return errors


_TOPOLOGY_EXPRESSION: Final = rule.table(
    rule.required("values", rule.each(rule.unique())), rule.always("key", label_key)
)
_CLASS: Final = rule.table(
    rule.required("provisioner", _DRIVER),
    _PARAMETERS,
    rule.optional("reclaimPolicy", rule.enum("Delete", "Retain")),
    rule.always("volumeBindingMode", rule.enum("Immediate", "WaitForFirstConsumer"), default=None),
    rule.given("allowedTopologies", rule.code(_topology_errors)),
)


def _class_change_errors(storage_class: Object, old: Object) -> list[FieldError]:
    return keeps({"parameters": None, "provisioner": ""})(storage_class, old) + [
        immutable(field, storage_class.get(field))
        for field in ("reclaimPolicy", "volumeBindingMode")
        if storage_class.get(field) != old.get(field)
    ]


def _class_warnings(storage_class: Object, _: Object | None) -> list[str]:
    return [
        f"allowedTopologies[{index}].matchLabelExpressions[{at}].key: {warning}"
        for index, topology in enumerate(storage_class.get("allowedTopologies") or ())
        for at, each in enumerate(topology.get("matchLabelExpressions") or ())
        if (warning := label_warning(each.get("key", "")))
    ]


def _default_attachment(attachment: Object) -> None:
    inline = (attachment.get("spec", {}).get("source") or {}).get("inlineVolumeSpec")
    if inline is not None:
        default_volume_spec(inline)


def _source_errors(source: Object, path: str) -> Iterator[FieldError]:
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and inline is None:
        yield required(path, why)
    elif name is not None and inline is not None:
        yield forbidden(path, why)
    elif name == "":
        why = "must specify non empty persistentVolumeName"
        yield required(f"{path}.persistentVolumeName", why)
    elif inline is not None:
        yield from volume_spec_errors(inline, f"{path}.inlineVolumeSpec", name="", inline=True)


def _message_errors(message: str, path: str) -> Iterator[FieldError]:
    if len(message.encode()) > _MAX_MESSAGE_LENGTH:
        # Kube-apiserver's message has the wrong limit.
        yield too_long(path, "", _LARGEST)


_FAILURE: Final = rule.table(
    rule.given("message", rule.code(_message_errors)),
    rule.given("errorCode", rule.between(0, 2**31 - 1)),
)
_ATTACHMENT: Final = rule.table(
    rule.required("spec.attacher", DRIVER_NAME),
    rule.always("spec.source", rule.code(_source_errors), default={}),
    rule.always("spec.nodeName", dns_subdomain),
    rule.given("status.attachmentMetadata", _SMALL),
    rule.given("status.attachError", _FAILURE),
    rule.given("status.detachError", _FAILURE),
    rule.given("spec.source.persistentVolumeName", dns_subdomain),
)


def _attachment_change_errors(attachment: Object, old: Object) -> list[FieldError]:
    spec = attachment.get("spec", {})
    if spec == old.get("spec", {}):
        return []
    return [immutable("spec", go_form("VolumeAttachmentSpec", spec))]


_ATTRIBUTES: Final = rule.table(
    rule.required("driverName", _DRIVER),
    _PARAMETERS,
    rule.required("parameters", detail="must contain at least one key/value pair"),
)


def _attributes_change_errors(attributes: Object, old: Object) -> list[FieldError]:
    return [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("driverName", "parameters")
        if attributes.get(field) != old.get(field)
    ]


STORAGE_CLASS = Strategy(
    default=_default_class,
    validate=_CLASS,
    validate_update=_class_change_errors,
    warnings=_class_warnings,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
VOLUME_ATTACHMENT = Strategy(
    default=_default_attachment,
    validate=_ATTACHMENT,
    validate_update=_attachment_change_errors,
    validate_status=lambda attachment, _: _ATTACHMENT(attachment),
    name_errors=subdomain_name,
    has_status=True,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
VOLUME_ATTRIBUTES_CLASS = Strategy(
    admit=protected_by("kubernetes.io/vac-protection"),
    validate=_ATTRIBUTES,
    validate_update=_attributes_change_errors,
    update_first=True,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
