"""The rules of Leases: the holder of a lease, its duration and its transitions."""

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext


def _drop_disabled_fields(lease: Object, _: StrategyContext) -> None:
    # CoordinatedLeaderElection is disabled.
    for field in ("strategy", "preferredHolder"):
        lease["spec"].pop(field, None)


def _prepare_update(lease: Object, _: Object, around: StrategyContext) -> None:
    _drop_disabled_fields(lease, around)


def _errors(lease: Object) -> list[FieldError]:
    spec = lease["spec"]
    errors: list[FieldError] = []
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    return errors


def _default(lease: Object) -> None:
    lease.setdefault("spec", {})


LEASE = Strategy(
    default=_default,
    prepare_create=_drop_disabled_fields,
    prepare_update=_prepare_update,
    validate=_errors,
    name_errors=subdomain_name,
    allow_create_on_update=True,
    allow_unconditional_update=False,
)
