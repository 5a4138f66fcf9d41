"""NetworkPolicies: the traffic that Pods may receive and send."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.label_selectors import LABEL_SELECTOR
from steersman_cluster.apiserver.builtin.network.address_forms import network_warnings
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    cidr,
    port_name,
    port_number,
    sloppy_cidr,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

# The field with the rules of each direction, and the field of a rule with its peers.
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))


def _default(policy: Object) -> None:
    spec = policy.setdefault("spec", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for direction, _ in _DIRECTIONS:
        for each in spec.get(direction) or ():
            for port in each.get("ports") or ():
                fill(port, protocol="TCP")


def _port_range_errors(port: Object, path: str) -> Iterator[FieldError]:
    first, last = port.get("port"), port.get("endPort")
    if isinstance(first, int):
        yield from all_invalid(f"{path}.port", first, port_number(first))
        if last is not None and last < first:
            why = "must be greater than or equal to `port`"
            yield invalid(f"{path}.endPort", first, why)
        if last is not None:
            yield from all_invalid(f"{path}.endPort", last, port_number(last))
        return
    if last is not None:
        state = "is not specified" if first is None else "is non-numeric"
        yield invalid(f"{path}.endPort", last, f"may not be specified when `port` {state}")
    if first is not None:
        yield from all_invalid(f"{path}.port", first, port_name(first))


def _peer_errors(peer: Object, path: str) -> Iterator[FieldError]:
    if not peer:
        yield required(path, "must specify a peer")
    elif "ipBlock" in peer and len(peer) > 1:
        yield forbidden(path, "may not specify both ipBlock and another peer")


def _exception_errors(block: Object, path: str) -> Iterator[FieldError]:
    if (network := sloppy_cidr(block["cidr"])) is None:
        return
    outer = ip_network(network, strict=False)
    for index, each in enumerate(block.get("except") or ()):
        at = f"{path}.except[{index}]"
        yield from all_invalid(at, each, cidr(each))
        if (part := sloppy_cidr(each)) is not None:
            inner = ip_network(part, strict=False)
            if inner.network_address not in outer or inner.prefixlen <= outer.prefixlen:
                yield invalid(at, each, "must be a strict subset of `cidr`")


_PORT: Final = rule.table(
    rule.given("protocol", rule.enum("TCP", "UDP", "SCTP")), rule.code(_port_range_errors)
)
_BLOCK: Final = rule.first(
    rule.required("cidr"),
    rule.table(rule.optional("cidr", cidr), rule.code(_exception_errors)),
)
_PEER: Final = rule.table(
    rule.given("podSelector", LABEL_SELECTOR),
    rule.given("namespaceSelector", LABEL_SELECTOR),
    rule.given("ipBlock", _BLOCK),
    rule.code(_peer_errors),
)
_POLICY: Final = rule.always(
    "spec",
    rule.given("podSelector", LABEL_SELECTOR),
    rule.given(
        "ingress",
        rule.each(rule.given("ports", rule.each(_PORT)), rule.given("from", rule.each(_PEER))),
    ),
    rule.given(
        "egress",
        rule.each(rule.given("ports", rule.each(_PORT)), rule.given("to", rule.each(_PEER))),
    ),
    rule.given(
        "policyTypes",
        rule.first(
            rule.must(lambda types: len(types) <= 2, "may not specify more than two policyTypes"),
            rule.each(rule.enum("Ingress", "Egress")),
        ),
    ),
)


def _warnings(policy: Object, _: Object | None) -> list[str]:
    warnings: list[str] = []
    for direction, peers in _DIRECTIONS:
        for index, each in enumerate(policy["spec"].get(direction) or ()):
            for at, peer in enumerate(each.get(peers) or ()):
                if block := peer.get("ipBlock"):
                    path = f"spec.{direction}[{index}].{peers}[{at}].ipBlock"
                    warnings += network_warnings(f"{path}.cidr", block.get("cidr", ""))
                    for part, excluded in enumerate(block.get("except") or ()):
                        warnings += network_warnings(f"{path}.except[{part}]", excluded)
    return warnings


NETWORK_POLICY = Strategy(
    default=_default,
    validate=_POLICY,
    warnings=_warnings,
    name_errors=subdomain_name,
    generation_fields=("spec",),
)
