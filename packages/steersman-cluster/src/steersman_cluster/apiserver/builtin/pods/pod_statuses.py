"""Validation of the container statuses (users, allocated devices) and ResourceClaims of a Pod."""

from collections.abc import Iterator, Sequence
from typing import Final

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    user_or_group_id,
)
from steersman_cluster.apiserver.meta.strategy import Object

_OF_SPEC: Final = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}
_EPHEMERAL: Final = "ephemeralContainerStatuses"
_HEALTHS: Final = ("Healthy", "Unhealthy", "Unknown")
_MAX_MESSAGE_LENGTH: Final = 1024


def claim_status_errors(status: Object, spec: Object) -> Iterator[FieldError]:
    """Yield the errors in the statuses of a Pod's ResourceClaims."""
    known = {each.get("name") for each in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, each in enumerate(status.get("resourceClaimStatuses") or ()):
        path, name = f"status.resourceClaimStatuses[{index}]", each.get("name", "")
        if name not in known:
            why = "must match the name of an entry in `spec.resourceClaims`"
            yield invalid(f"{path}.name", name, why)
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        if (claim := each.get("resourceClaimName")) is not None:
            yield from all_invalid(f"{path}.resourceClaimName", claim, dns_subdomain(claim))
    if (extended := status.get("extendedResourceClaimStatus")) is not None:
        yield from _extended_errors(extended, spec, "status.extendedResourceClaimStatus")


def _extended_errors(status: Object, spec: Object, path: str) -> Iterator[FieldError]:
    containers = {
        each.get("name", ""): each
        for kind in ("initContainers", "containers")
        for each in spec.get(kind) or ()
    }
    mappings = status.get("requestMappings") or ()
    if not mappings:
        why = "at least one request mapping is required"
        yield required(f"{path}.requestMappings", why)
    seen: set[tuple[str, str, str]] = set()
    for index, mapping in enumerate(mappings):
        at = f"{path}.requestMappings[{index}]"
        container, resource = mapping.get("containerName", ""), mapping.get("resourceName", "")
        request = mapping.get("requestName", "")
        key = (container, resource, request)
        if container not in containers:
            why = "must match the name of an entry in spec.initContainers.name or"
            yield invalid(f"{at}.containerName", container, f"{why} spec.containers.name")
        elif resource not in _requests(containers[container]):
            why = (
                "must match the extended resource name of an entry in"
                " spec.initContainers.resources.requests or spec.containers.resources.requests"
            )
            yield invalid(f"{at}.resourceName", resource, why)
        yield from all_invalid(f"{path}.requestName", request, dns_label(request))
        if key in seen:
            yield duplicate(f"{at}.containerName", container)
            yield duplicate(f"{at}.resourceName", resource)
            yield duplicate(f"{at}.requestName", request)
        seen.add(key)
    claim, at = status.get("resourceClaimName", ""), f"{path}.resourceClaimName"
    yield from all_invalid(at, claim, dns_subdomain(claim)) if claim else [required(at)]


def container_status_errors(status: Object, spec: Object) -> Iterator[FieldError]:
    """Yield the errors in the users and the allocated devices of container statuses."""
    system = (spec.get("os") or {}).get("name", "linux")
    for name in (*_OF_SPEC, _EPHEMERAL):
        for index, each in enumerate(status.get(name) or ()):
            path, user = f"status.{name}[{index}].user.linux", (each.get("user") or {}).get("linux")
            if user is None:
                continue
            if system == "windows":
                yield forbidden(path, "cannot be set for a windows pod")
            elif system == "linux":
                yield from _user_errors(user, path)
    for name, kind in _OF_SPEC.items():
        containers = {each.get("name"): each for each in reversed(spec.get(kind) or ())}
        for index, each in enumerate(status.get(name) or ()):
            if devices := each.get("allocatedResourcesStatus"):
                path = f"status.{name}[{index}].allocatedResourcesStatus"
                yield from _device_errors(devices, containers.get(each.get("name")), path)
    for index, each in enumerate(status.get(_EPHEMERAL) or ()):
        if each.get("allocatedResourcesStatus"):
            why = "must not be specified in container status"
            yield forbidden(f"status.{_EPHEMERAL}[{index}].allocatedResourcesStatus", why)


def _user_errors(user: Object, path: str) -> Iterator[FieldError]:
    for name in ("uid", "gid"):
        number = user.get(name, 0)
        yield from all_invalid(f"{path}.{name}", number, user_or_group_id(number))
    for index, number in enumerate(user.get("supplementalGroups") or ()):
        field = f"{path}.supplementalGroups[{index}]"
        yield from all_invalid(field, number, user_or_group_id(number))


def _device_errors(
    devices: Sequence[Object], container: Object | None, path: str
) -> Iterator[FieldError]:
    for index, device in enumerate(devices):
        at, name = f"{path}[{index}]", device.get("name", "")
        if container is not None:
            known, why = set(_requests(container)), "must match one of the container's resource"
            if name.startswith("claim:"):
                known = _claims(container)
                why = (
                    f"{why} claims in a format 'claim:<claimName>/<request>' or"
                    " 'claim:<claimName>' if request is empty"
                )
            else:
                why = f"{why} requests"
            if name not in known:
                yield invalid(f"{at}.name", name, why)
        yield from _health_errors(device.get("resources") or (), f"{at}.resources")


def _health_errors(resources: Sequence[Object], path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, each in enumerate(resources):
        at, health = f"{path}[{index}]", each.get("health", "")
        if health not in _HEALTHS:
            yield not_supported(f"{at}.health", health, _HEALTHS)
        message = each.get("message")
        if message is not None and not message:
            yield required(f"{at}.message", "must be non-empty if specified")
        elif message and len(message.encode()) > _MAX_MESSAGE_LENGTH:
            yield too_long(f"{at}.message", message, _MAX_MESSAGE_LENGTH)
        if (identity := each.get("resourceID", "")) in seen:
            yield duplicate(f"{at}.resourceID", identity)
        seen.add(identity)


def _requests(container: Object) -> Object:
    return (container.get("resources") or {}).get("requests") or {}


def _claims(container: Object) -> set[str]:
    return {
        f"claim:{each.get('name', '')}" + (f"/{each['request']}" if each.get("request") else "")
        for each in (container.get("resources") or {}).get("claims") or ()
    }
