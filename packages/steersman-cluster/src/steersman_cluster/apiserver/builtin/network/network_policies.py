"""NetworkPolicies: the traffic that Pods may receive and send."""

from ipaddress import ip_network
from typing import Final

from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.label_selectors import selector_errors
from steersman_cluster.apiserver.builtin.network.address_forms import network_warnings
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
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

_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_TYPES: Final = ("Ingress", "Egress")
# The field with the rules of each direction, and the field of a rule with its peers.
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))


def _default(policy: Object) -> None:
    spec = policy.setdefault("spec", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for direction, _ in _DIRECTIONS:
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                fill(port, protocol="TCP")


def _errors(policy: Object) -> list[FieldError]:
    spec = policy["spec"]
    errors = selector_errors(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            for at, port in enumerate(rule.get("ports") or ()):
                errors += _port_errors(port, f"{path}.ports[{at}]")
            for at, peer in enumerate(rule.get(peers) or ()):
                errors += _peer_errors(peer, f"{path}.{peers}[{at}]")
    types = spec.get("policyTypes") or ()
    if len(types) > len(_TYPES):
        why = "may not specify more than two policyTypes"
        return [*errors, invalid("spec.policyTypes", types, why)]
    return errors + [
        not_supported(f"spec.policyTypes[{index}]", each, _TYPES)
        for index, each in enumerate(types)
        if each not in _TYPES
    ]


def _port_errors(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    port, last, protocol = rule.get("port"), rule.get("endPort"), rule.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if isinstance(port, int):
        errors += all_invalid(f"{path}.port", port, port_number(port))
        if last is not None:
            if last < port:
                why = "must be greater than or equal to `port`"
                errors.append(invalid(f"{path}.endPort", port, why))
            errors += all_invalid(f"{path}.endPort", last, port_number(last))
        return errors
    if last is not None:
        state = "is not specified" if port is None else "is non-numeric"
        why = f"may not be specified when `port` {state}"
        errors.append(invalid(f"{path}.endPort", last, why))
    if port is not None:
        errors += all_invalid(f"{path}.port", port, port_name(port))
    return errors


def _peer_errors(peer: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("podSelector", "namespaceSelector"):
        errors += selector_errors(peer.get(field), f"{path}.{field}")
    if (block := peer.get("ipBlock")) is not None:
        errors += _block_errors(block, f"{path}.ipBlock")
    if not peer:
        errors.append(required(path, "must specify a peer"))
    elif block is not None and len(peer) > 1:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _block_errors(block: Object, path: str) -> list[FieldError]:
    whole = block.get("cidr", "")
    if not whole:
        return [required(f"{path}.cidr")]
    errors = all_invalid(f"{path}.cidr", whole, cidr(whole))
    network = sloppy_cidr(whole)
    if network is None:
        return errors
    outer = ip_network(network, strict=False)
    for index, each in enumerate(block.get("except") or ()):
        at = f"{path}.except[{index}]"
        errors += all_invalid(at, each, cidr(each))
        if (part := sloppy_cidr(each)) is not None:
            inner = ip_network(part, strict=False)
            if inner.network_address not in outer or inner.prefixlen <= outer.prefixlen:
                errors.append(invalid(at, each, "must be a strict subset of `cidr`"))
    return errors


def _warnings(policy: Object, _: Object | None) -> list[str]:
    warnings: list[str] = []
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(policy["spec"].get(direction) or ()):
            for at, peer in enumerate(rule.get(peers) or ()):
                if block := peer.get("ipBlock"):
                    path = f"spec.{direction}[{index}].{peers}[{at}].ipBlock"
                    warnings += network_warnings(f"{path}.cidr", block.get("cidr", ""))
                    for part, each in enumerate(block.get("except") or ()):
                        warnings += network_warnings(f"{path}.except[{part}]", each)
    return warnings


NETWORK_POLICY = Strategy(
    default=_default,
    validate=_errors,
    warnings=_warnings,
    name_errors=subdomain_name,
    generation_fields=("spec",),
)
