"""The rules of Leases: the holder of a lease, its duration and its transitions."""

from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext


def _drop_disabled_fields(lease: Object, _: StrategyContext) -> None:
    # CoordinatedLeaderElection is disabled.
    for field in ("strategy", "preferredHolder"):
        lease["spec"].pop(field, None)


def _prepare_update(lease: Object, _: Object, around: StrategyContext) -> None:
    _drop_disabled_fields(lease, around)


_LEASE: Final = rule.table(
    rule.given("spec.leaseDurationSeconds", rule.POSITIVE),
    rule.given("spec.leaseTransitions", rule.NOT_NEGATIVE),
)


LEASE = Strategy(
    prepare_create=_drop_disabled_fields,
    prepare_update=_prepare_update,
    validate=_LEASE,
    name_errors=subdomain_name,
    allow_create_on_update=True,
    allow_unconditional_update=False,
)
