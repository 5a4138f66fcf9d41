"""Requests and limits of containers and Pods, and the QoS class that follows from them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from steersman.errors import BadValue
from steersman.units import Quantity
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE, dns_label, label_key
from steersman_cluster.apiserver.meta.strategy import Object

Amounts: TypeAlias = Mapping[str, str]

_OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD: Final = (
    _OF_CONTAINERS
    | _COUNTED
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _OF_CONTAINERS}
    | {"storage", "requests.storage"}
)
_HUGE_PAGES: Final = "hugepages-"
_ZERO: Final = Quantity(0)


def is_native(name: str) -> bool:
    """Return whether ``name`` is a resource that Kubernetes itself defines."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Return whether ``name`` is an extended resource, which a device plugin advertises."""
    return (
        not is_native(name)
        and not name.startswith("requests.")
        and not label_key(f"requests.{name}")
    )


def may_be_overcommitted(name: str) -> bool:
    """Return whether the limit of the resource ``name`` is permitted to exceed the request."""
    return is_native(name) and not name.startswith(_HUGE_PAGES)


def resource_name_errors(name: str, path: str) -> list[FieldError]:
    """Return the errors in the name of a resource."""
    errors = all_invalid(path, name, label_key(name))
    is_known = name in _STANDARD or name.startswith((_HUGE_PAGES, f"requests.{_HUGE_PAGES}"))
    if not errors and "/" not in name and not is_known:
        errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return errors


def container_resource_errors(name: str, path: str) -> list[FieldError]:
    """Return the errors in the name of a resource that a container requests."""
    if name in _OF_CONTAINERS:
        return []
    errors = resource_name_errors(name, path)
    if "/" not in name:
        if not name.startswith(_HUGE_PAGES):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def pod_resource_errors(name: str, path: str) -> list[FieldError]:
    """Return the errors in the name of a resource that is requested at the Pod level."""
    errors = resource_name_errors(name, path)
    if not errors and name not in ("cpu", "memory") and not name.startswith(_HUGE_PAGES):
        errors.append(not_supported(path, name, ("cpu", _HUGE_PAGES, "memory")))
    return errors


def may_be_fractional(amount: str) -> bool:
    """Return False if the text of the quantity shows that it is an integer, otherwise True."""
    return amount[-1] in "mun" or "." in amount or "-" in amount[1:]


def amount_errors(name: str, amount: str, path: str) -> list[FieldError]:
    """Return the errors in ``amount``, the quantity of the resource ``name``."""
    errors: list[FieldError] = []
    if amount.startswith("-") and Quantity(amount) < _ZERO:
        errors.append(invalid(path, amount, NOT_NEGATIVE))
    is_counted = may_be_fractional(amount) and (name in _COUNTED or is_extended(name))
    if is_counted and Quantity(amount).milli_value() % 1000:
        errors.append(invalid(path, amount, "must be an integer"))
    return errors


def _page_errors(name: str, amount: str, path: str) -> list[FieldError]:
    if not name.startswith(_HUGE_PAGES) or _divides(name, Quantity(amount)):
        return []
    return [invalid(path, amount, f"{amount} is not positive integer multiple of {name}")]


def _divides(name: str, quantity: Quantity) -> bool:
    try:
        size = Quantity(name.removeprefix(_HUGE_PAGES))
    except BadValue:
        return False
    return (
        size > _ZERO and size.milli_value() % 1000 == 0 and quantity.as_int() % size.as_int() == 0
    )


def requirements_errors(
    resources: Mapping[str, Any],
    path: str,
    claims: Collection[str] = (),
    name_errors: Callable[[str, str], list[FieldError]] = container_resource_errors,
) -> list[FieldError]:
    """Return the errors in the requests, limits and claims of a container or Pod.

    ``resources`` contains these three. ``claims`` contains the names of the ResourceClaims that the
    Pod declares.
    """
    if not resources:
        return []
    errors: list[FieldError] = []
    limits: Amounts = resources.get("limits") or {}
    requests: Amounts = resources.get("requests") or {}
    for name, amount in limits.items():
        field = f"{path}.limits[{name}]"
        errors += name_errors(name, field)
        errors += amount_errors(name, amount, field)
        errors += _page_errors(name, amount, field)
    for name, amount in requests.items():
        field = f"{path}.requests[{name}]"
        errors += name_errors(name, field)
        errors += amount_errors(name, amount, field)
        limit = limits.get(name)
        if limit is None:
            if not may_be_overcommitted(name):
                detail = "Limit must be set for non overcommitable resources"
                errors.append(required(f"{path}.limits", detail))
        elif limit != amount and (wrong := _against(name, amount, limit)):
            errors.append(invalid(f"{path}.requests", amount, wrong))
        errors += _page_errors(name, amount, field)
    named = {*limits, *requests}
    if not {"cpu", "memory"} & named and any(each.startswith(_HUGE_PAGES) for each in named):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    errors += _claim_errors(resources.get("claims") or (), claims, f"{path}.claims")
    return errors


def _against(name: str, amount: str, limit: str) -> str:
    """Return the message if the request ``amount`` violates ``limit``, else ""."""
    asked, most = Quantity(amount), Quantity(limit)
    if asked != most and not may_be_overcommitted(name):
        return f"must be equal to {name} limit of {limit}"
    return f"must be less than or equal to {name} limit of {limit}" if asked > most else ""


def _claim_errors(
    used: Collection[Mapping[str, str]], declared: Collection[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    in_part: set[str] = set()  # claims that are used with a request name
    for index, claim in enumerate(used):
        field = f"{path}[{index}]"
        name, request = claim.get("name", ""), claim.get("request", "")
        if not name:
            errors.append(required(field))
            continue
        key = f"{name}/{request}" if request else name
        if name in seen:
            errors.append(duplicate(field, name))
        else:
            if request:
                errors += all_invalid(f"{field}.request", request, dns_label(request))
                in_part.add(name)
            if key in seen or (not request and name in in_part):
                errors.append(duplicate(field, key))
            seen.add(key)
        if name not in declared:
            known = f": {', '.join(sorted(declared))}" if declared else " which is empty"
            detail = f"must be one of the names in pod.spec.resourceClaims{known}"
            errors.append(FieldError("FieldValueNotFound", field, name, detail))
    return errors


def round_up(amounts: MutableMapping[str, str]) -> None:
    """Round up quantities with more than three decimal places, in place."""
    for name, amount in amounts.items():
        if may_be_fractional(amount) and not amount.endswith("m"):
            rounded = Quantity(f"{Quantity(amount).milli_value()}m")
            if rounded != Quantity(amount):
                amounts[name] = rounded.canonical()


def aggregated(spec: Object, kind: str) -> dict[str, Quantity]:
    """Return the total of the containers' ``requests`` or ``limits``, as ``kind`` names them.

    Init containers run one after the other, so only the largest one counts. Sidecars run at the
    same time as the other containers.
    """
    total: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add(total, _amounts(container, kind))
    beside: dict[str, Quantity] = {}
    most: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        own = dict(_amounts(container, kind))
        if container.get("restartPolicy") == "Always":
            _add(total, own.items())
            _add(beside, own.items())
            own = dict(beside)
        else:
            _add(own, beside.items())
        _raise(most, own)
    _raise(total, most)
    return total


def _amounts(container: Object, kind: str) -> Iterator[tuple[str, Quantity]]:
    for name, amount in (container.get("resources", {}).get(kind) or {}).items():
        yield name, Quantity(amount)


def _add(total: dict[str, Quantity], amounts: Iterable[tuple[str, Quantity]]) -> None:
    for name, amount in amounts:
        total[name] = total[name] + amount if name in total else amount


def _raise(least: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        if name not in least or amount > least[name]:
            least[name] = amount


def pod_level_errors(spec: Object, claims: Collection[str], path: str) -> list[FieldError]:
    """Return the errors in the Pod-level resources."""
    resources: Object | None = spec.get("resources")
    if resources is None:
        return []
    if spec.get("os", {}).get("name") == "windows":
        return [forbidden(path, "may not be set for a windows pod")]
    errors: list[FieldError] = []
    if resources.get("claims") is not None:
        detail = "claims may not be set for Resources at pod-level"
        errors.append(forbidden(f"{path}.claims", detail))
    errors += requirements_errors(resources, path, claims, pod_resource_errors)
    for kind in ("requests", "limits"):
        own: Amounts = resources.get(kind) or {}
        for name, least in aggregated(spec, kind).items():
            counts = kind == "requests" or name.startswith(_HUGE_PAGES)
            if counts and name in own and least > Quantity(own[name]):
                detail = f"must be greater than or equal to aggregate container {kind} of {least}"
                errors.append(invalid(f"{path}.{kind}[{name}]", own[name], detail))
    limits: Amounts = resources.get("limits") or {}
    for index, container in enumerate(spec.get("containers") or ()):
        for name, amount in _amounts(container, "limits"):
            if name in limits and amount > Quantity(limits[name]):
                field = f"{path}.containers[{index}][{name}].limits"
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                errors.append(invalid(field, str(amount), detail))
    return errors


def quality_of_service(spec: Object) -> str:
    """Return the QoS class, which determines the order of the kubelet's evictions."""
    whole = spec.get("resources")
    parts = (
        [whole]
        if whole is not None
        else [
            each.get("resources", {})
            for each in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        ]
    )
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    is_guaranteed = True
    for part in parts:
        _add(requests, _computed(part, "requests"))
        limited = dict(_computed(part, "limits"))
        _add(limits, limited.items())
        if len(limited) < 2 and (whole is None or part.get("limits")):
            is_guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if is_guaranteed and requests == limits else "Burstable"


def _computed(part: Object, kind: str) -> Iterator[tuple[str, Quantity]]:
    for name, amount in (part.get(kind) or {}).items():
        if name in ("cpu", "memory") and (quantity := Quantity(amount)) > _ZERO:
            yield name, quantity
