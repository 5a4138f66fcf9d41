"""The rules of probes and lifecycle hooks, each of which has exactly one handler.

The scope of these tables has ``grace_seconds``, the termination grace period of the Pod.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, invalid, required
from steersman_cluster.apiserver.meta.name_validation import (
    NOT_NEGATIVE,
    http_header_name,
    port_name,
    port_number,
)

Handler: TypeAlias = Mapping[str, Any]


class HasGracePeriod(Protocol):
    """The part of a Pod on which the rules of handlers depend."""

    @property
    def grace_seconds(self) -> int | None: ...


def port_messages(port: int | str) -> list[str]:
    """Return the messages about a port that is given by number or name."""
    return port_name(port) if isinstance(port, str) else port_number(port)


def _sleep_errors(action: Handler, path: str, pod: HasGracePeriod) -> Iterator[FieldError]:
    seconds, most = action.get("seconds", 0), pod.grace_seconds
    if most is not None and not 0 <= seconds <= most:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({most})"
        yield invalid(path, seconds, detail)


_PORT: Final = rule.always("port", port_messages, default=0)
# In kube-apiserver's order of validation.
_HANDLERS: Final[Mapping[str, Check]] = {
    "exec": rule.required("command"),
    "httpGet": rule.table(
        _PORT,
        rule.always("scheme", rule.enum("HTTP", "HTTPS")),
        rule.optional(
            "httpHeaders", rule.each(rule.always("name", http_header_name, at=""), numbered=False)
        ),
    ),
    "tcpSocket": _PORT,
    "grpc": _PORT,
    "sleep": rule.scoped(_sleep_errors),
}


def _handler_errors(handler: Handler, path: str, pod: HasGracePeriod) -> Iterator[FieldError]:
    given = [name for name in _HANDLERS if name in handler]
    if not given:
        yield required(path, "must specify a handler type")
    for name in given[:1]:
        yield from _HANDLERS[name](handler[name], f"{path}.{name}", pod)
    for name in given[1:]:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


_HANDLER: Final = rule.scoped(_handler_errors)
_NOT_NEGATIVE: Final = rule.must(lambda number: number >= 0, NOT_NEGATIVE)
_PROBE: Final = rule.table(
    _HANDLER,
    rule.given("initialDelaySeconds", _NOT_NEGATIVE),
    rule.given("timeoutSeconds", _NOT_NEGATIVE),
    rule.given("periodSeconds", _NOT_NEGATIVE),
    rule.given("successThreshold", _NOT_NEGATIVE),
    rule.given("failureThreshold", _NOT_NEGATIVE),
    rule.given(
        "terminationGracePeriodSeconds",
        rule.must(lambda seconds: seconds > 0, "must be greater than 0"),
    ),
)
_ONE_SUCCESS: Final = rule.always(
    "successThreshold", rule.must(lambda count: count == 1, "must be 1"), default=0
)
LIFECYCLE: Final = rule.table(rule.given("postStart", _HANDLER), rule.given("preStop", _HANDLER))
PROBES: Final = rule.table(
    rule.given("livenessProbe", _PROBE, _ONE_SUCCESS),
    rule.given(
        "readinessProbe",
        _PROBE,
        rule.given(
            "terminationGracePeriodSeconds",
            rule.must_be_absent("must not be set for readinessProbes"),
        ),
    ),
    rule.given("startupProbe", _PROBE, _ONE_SUCCESS),
)
