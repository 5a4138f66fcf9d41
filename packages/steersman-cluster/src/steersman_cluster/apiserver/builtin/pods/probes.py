"""Validation of probes and lifecycle hooks, each of which has exactly one handler."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    NOT_NEGATIVE,
    http_header_name,
    port_name,
    port_number,
)

Handler: TypeAlias = Mapping[str, Any]

_NUMBERS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def _exec_errors(action: Handler, path: str, _: int | None) -> list[FieldError]:
    return [] if action.get("command") else [required(f"{path}.command")]


def _http_errors(action: Handler, path: str, _: int | None) -> list[FieldError]:
    errors: list[FieldError] = [] if action.get("path") else [required(f"{path}.path")]
    errors += port_errors(action.get("port", 0), f"{path}.port")
    if (scheme := action.get("scheme", "")) not in ("HTTP", "HTTPS"):
        errors.append(not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        errors += all_invalid(f"{path}.httpHeaders", name, http_header_name(name))
    return errors


def _port_only_errors(action: Handler, path: str, _: int | None) -> list[FieldError]:
    return port_errors(action.get("port", 0), f"{path}.port")


def _sleep_errors(action: Handler, path: str, grace_seconds: int | None) -> list[FieldError]:
    seconds = action.get("seconds", 0)
    if grace_seconds is None or 0 <= seconds <= grace_seconds:
        return []
    detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
    return [invalid(path, seconds, detail)]


# In kube-apiserver's order of validation.
_HANDLERS: Final[Mapping[str, Callable[[Handler, str, int | None], list[FieldError]]]] = {
    "exec": _exec_errors,
    "httpGet": _http_errors,
    "tcpSocket": _port_only_errors,
    "grpc": _port_only_errors,
    "sleep": _sleep_errors,
}


def port_errors(port: int | str, path: str) -> list[FieldError]:
    """Return the errors in a port that is given by number or name."""
    wrong = port_name(port) if isinstance(port, str) else port_number(port)
    return all_invalid(path, port, wrong) if wrong else []


def handler_errors(handler: Handler, path: str, grace_seconds: int | None) -> list[FieldError]:
    """Return the errors in the handler of a probe or hook; there must be exactly one handler."""
    errors: list[FieldError] = []
    first = True
    for name, check in _HANDLERS.items():
        if name not in handler:
            continue
        if first:
            errors += check(handler[name], f"{path}.{name}", grace_seconds)
        else:
            errors.append(forbidden(f"{path}.{name}", "may not specify more than 1 handler type"))
        first = False
    if first:
        errors.append(required(path, "must specify a handler type"))
    return errors


def probe_errors(
    container: Handler, name: str, path: str, grace_seconds: int | None
) -> list[FieldError]:
    """Return the errors in the probe ``name`` (liveness, readiness or startup) of a container."""
    probe: Handler | None = container.get(name)
    if probe is None:
        return []
    path = f"{path}.{name}"
    errors = handler_errors(probe, path, grace_seconds)
    for number in _NUMBERS:
        if (value := probe.get(number, 0)) < 0:
            errors.append(invalid(f"{path}.{number}", value, NOT_NEGATIVE))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        detail = "must be greater than 0"
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, detail))
    if name == "readinessProbe":
        if grace is not None:
            detail = "must not be set for readinessProbes"
            errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, detail))
    elif (successes := probe.get("successThreshold", 0)) != 1:
        errors.append(invalid(f"{path}.successThreshold", successes, "must be 1"))
    return errors


def lifecycle_errors(lifecycle: Handler, path: str, grace_seconds: int | None) -> list[FieldError]:
    """Return the errors in a container's ``postStart`` and ``preStop`` hooks."""
    return [
        error
        for name in ("postStart", "preStop")
        if name in lifecycle
        for error in handler_errors(lifecycle[name], f"{path}.{name}", grace_seconds)
    ]
