"""Endpoints, ingresses, network policies, and the addresses behind Services."""

from steersman.apiserver.builtin.filling import fill, fill_empty
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


def _address_name(name: str, _is_prefix: bool) -> list[str]:
    return canonical_ip(name)


ENDPOINTS = Rules(default=_default_endpoints, name_errors=subdomain_name, create_on_update=True)
ENDPOINT_SLICE = Rules(
    default=_default_slice,
    name_errors=subdomain_name,
    prepare_update=_prepare_slice_update,
    generation_of=("addressType", "endpoints", "ports"),
)
INGRESS = Rules(name_errors=subdomain_name, generation_of=("spec",), has_status=True)
INGRESS_CLASS = Rules(
    default=_default_ingress_class, name_errors=subdomain_name, generation_of=("spec",)
)
NETWORK_POLICY = Rules(default=_default_policy, name_errors=subdomain_name, generation_of=("spec",))
IP_ADDRESS = Rules(name_errors=_address_name)
SERVICE_CIDR = Rules(name_errors=subdomain_name, has_status=True)
