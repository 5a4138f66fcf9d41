"""Endpoints, ingresses, network policies, and the addresses behind Services."""

from steersman.apiserver.builtin.common_defaults import fill, fill_empty
from steersman.apiserver.builtin.common_rules import keeps, needs
from steersman.apiserver.field_errors import FieldError, immutable, invalid
from steersman.apiserver.names_rules import canonical_ip, subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings


def _default_endpoints(endpoints: Object) -> None:
    for subset in endpoints.get("subsets", ()):
        for port in subset.get("ports", ()):
            fill_empty(port, protocol="TCP")


def _default_slice(endpoint_slice: Object) -> None:
    for port in endpoint_slice.get("ports") or ():
        fill(port, name="", protocol="TCP")


def _prepare_slice_update(endpoint_slice: Object, old: Object, _: Surroundings) -> None:
    # The only kind of which a change of labels is a new generation.
    about, was = endpoint_slice["metadata"], old["metadata"]
    if about.get("labels") != was.get("labels"):
        about["generation"] = was.get("generation", 0) + 1


def _default_ingress_class(ingress_class: Object) -> None:
    if parameters := ingress_class.get("spec", {}).get("parameters"):
        fill(parameters, scope="Cluster")


def _default_policy(policy: Object) -> None:
    spec = policy.setdefault("spec", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            fill(port, protocol="TCP")


def _ingress_errors(ingress: Object) -> list[FieldError]:
    spec = ingress.get("spec") or {}
    if spec.get("rules") or spec.get("defaultBackend"):
        return []
    why = "either `defaultBackend` or `rules` must be specified"
    return [invalid("spec", spec.get("rules"), why)]


def _range_change_errors(service_cidr: Object, old: Object) -> list[FieldError]:
    """Ranges stay; a second one may join the first."""
    now, before = (each.get("spec", {}).get("cidrs") or [] for each in (service_cidr, old))
    if len(now) != len(before) and (len(before), len(now)) != (1, 2):
        return [immutable("spec.cidrs", now or None)]
    return [
        immutable(f"spec.cidrs[{index}]", now[index])
        for index, cidr in enumerate(before)
        if now[index] != cidr
    ]


def _address_name(name: str, _is_prefix: bool) -> list[str]:
    return canonical_ip(name)


ENDPOINTS = Rules(default=_default_endpoints, name_errors=subdomain_name, create_on_update=True)
ENDPOINT_SLICE = Rules(
    default=_default_slice,
    name_errors=subdomain_name,
    prepare_update=_prepare_slice_update,
    validate=needs("addressType"),
    validate_update=keeps({"addressType": ""}),
    generation_of=("addressType", "endpoints", "ports"),
)
INGRESS = Rules(
    validate=_ingress_errors,
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
)
INGRESS_CLASS = Rules(
    default=_default_ingress_class,
    validate=needs("spec.controller"),
    validate_update=keeps({"spec.controller": ""}),
    update_first=True,
    name_errors=subdomain_name,
    generation_of=("spec",),
)
NETWORK_POLICY = Rules(default=_default_policy, name_errors=subdomain_name, generation_of=("spec",))
IP_ADDRESS = Rules(
    validate=needs("spec.parentRef"),
    validate_update=keeps({"spec.parentRef": None}),
    name_errors=_address_name,
)
SERVICE_CIDR = Rules(
    validate_create=needs("spec.cidrs", cidrs="at least one CIDR required"),
    validate_update=_range_change_errors,
    name_errors=subdomain_name,
    has_status=True,
)
