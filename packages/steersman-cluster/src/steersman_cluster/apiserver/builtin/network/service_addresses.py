"""Cluster IPs and IP families: requested values, allocation, and permitted changes.

The cluster is single-stack, IPv4. A Service may name both families only if it is headless and has
no selector, because the user, not the cluster, creates the endpoints of such a Service.
"""

from ipaddress import IPv6Address
from typing import Any

from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    invalid,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import ip, sloppy_ip
from steersman_cluster.apiserver.meta.strategy import Object

FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
HERE = "IPv4"

WITHOUT_ADDRESS = "ExternalName"


def needs_address(spec: Object) -> bool:
    """Return whether the type of the Service is one with a cluster IP.

    This includes headless Services, whose cluster IP is ``None``.
    """
    return bool(spec.get("type") != WITHOUT_ADDRESS)


def is_headless(spec: Object) -> bool:
    """Return whether the Service has the cluster IP ``None``."""
    return bool(spec.get("clusterIPs") == ["None"])


def align(spec: Object, old: Object | None) -> None:
    """Set ``clusterIP`` or ``clusterIPs`` to match the other one.

    ``old`` is the spec that ``spec`` replaces: the field that the client has not changed is set.
    """
    first, several = spec.get("clusterIP", ""), spec.get("clusterIPs", [])
    if old is None:
        if first and not several:
            spec["clusterIPs"] = [first]
        return
    old_first, old_several = old.get("clusterIP", ""), old.get("clusterIPs", [])
    if old_several and not several and first == old_first:
        spec["clusterIPs"] = old_several
    elif first != old_first and several == old_several:
        _put(spec, "clusterIPs", [first] if first else [])


def keep(spec: Object, old: Object) -> None:
    """Copy from ``old`` to ``spec`` the allocated cluster IPs that an update omits."""
    if needs_address(old) and needs_address(spec):
        for field in ("clusterIP", "clusterIPs"):
            if not spec.get(field) and old.get(field):
                spec[field] = old[field]


def settle_families(name: str, spec: Object, old: Object | None) -> None:
    """Set the defaults of the IP families and of their policy.

    Raises an error if the families and the policy contradict each other. ``name`` is the name of
    the Service, and ``old`` is the spec that ``spec`` replaces.
    """
    if not needs_address(spec) or _is_unchanged_preference(spec, old):
        return
    selectorless = spec.get("clusterIP") == "None" and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        before = (old or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = before or ("RequireDualStack" if selectorless else "SingleStack")
    _raise_if_any(name, address_errors(spec, old))
    _raise_if_any(name, _family_errors(spec, old))
    families = spec.get("ipFamilies") or [HERE]
    if selectorless:
        if len(families) == 1 and spec["ipFamilyPolicy"] != "SingleStack":
            families = [*families, FAMILIES[families == ["IPv4"]]]
    else:
        errors = [
            invalid(f"spec.ipFamilies[{index}]", each, "not configured on this cluster")
            for index, each in enumerate(families)
            if each != HERE
        ]
        if spec["ipFamilyPolicy"] == "RequireDualStack":
            problem = "this cluster is not configured for dual-stack services"
            errors.insert(0, _policy_error(spec, problem))
        _raise_if_any(name, errors)
    spec["ipFamilies"] = families


def _family_errors(spec: Object, old: Object | None) -> list[FieldError]:
    """Return the contradictions between ``ipFamilyPolicy`` and the cluster IPs and IP families."""
    errors: list[FieldError] = []
    single = spec["ipFamilyPolicy"] == "SingleStack"
    for field, one in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        now, before = spec.get(field, []), (old or {}).get(field, [])
        if single and now == before:
            _put(spec, field, now[:1])
        elif not single and now and len(now) < len(before):
            problem = f"must be 'SingleStack' to release the secondary {one}"
            errors.append(_policy_error(spec, problem))
    for field, many in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
        if single and len(spec.get(field, ())) == 2:
            wanted = "must be 'RequireDualStack' or 'PreferDualStack'"
            errors.append(_policy_error(spec, f"{wanted} when multiple {many} are specified"))
    families = spec.get("ipFamilies", ())
    for index, address in enumerate(spec.get("clusterIPs", ())):
        if address == "None":
            break
        family = "IPv6" if is_ipv6(address) else "IPv4"
        if index >= len(families) and family != HERE:
            problem = f"{family} is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{index}]", spec["clusterIPs"], problem))
    return errors


def take_addresses(name: str, spec: Object, network: ServiceNetwork) -> None:
    """Set the cluster IP of a new Service to a free address, unless the client requests one.

    Raises an error if the requested address is not free.
    """
    if not needs_address(spec) or spec.get("clusterIPs", [""])[0] == "None":
        return
    wanted = spec.get("clusterIPs", [""])[0]
    if wanted:
        if problem := network.address_problem(wanted):
            problem = f"failed to allocate IP {wanted}: {problem}"
            _raise_if_any(name, [invalid("spec.clusterIPs", spec["clusterIPs"], problem)])
        return
    given = network.pick_address()
    if given is None:
        raise status_errors.internal_error(
            f'failed to allocate a serviceIP for Service "{name}": range is full'
        )
    if not name:
        # The IPAddress would have a reference to a Service without a name.
        problem = (
            f'failed to allocate IP: IPAddress.networking.k8s.io "{given}" is invalid:'
            " spec.parentRef.name: Required value"
        )
        _raise_if_any(name, [invalid("spec.clusterIPs", [""], problem)])
    spec["clusterIP"] = given
    spec["clusterIPs"] = [given]


def address_errors(spec: Object, old: Object | None) -> list[FieldError]:
    """Return the errors in cluster IPs, IP families and IP family policy of ``spec``.

    Errors that depend on the cluster, such as an address that is not free, are not included.
    """
    if not needs_address(spec):
        return []
    first, several = spec.get("clusterIP", ""), spec.get("clusterIPs", [])
    families = spec.get("ipFamilies", [])
    errors: list[FieldError] = []
    if first and several and several[0] != first:
        errors.append(invalid("spec.clusterIPs", several, "first value must match `clusterIP`"))
    elif several and not first:
        problem = "must be empty when `clusterIP` is not specified"
        errors.append(invalid("spec.clusterIPs", several, problem))
    seen: set[str] = set()
    for index, family in enumerate(families):
        if family not in FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{index}]", family, FAMILIES))
        if family in seen:
            errors.append(duplicate(f"spec.ipFamilies[{index}]", family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, POLICIES))
    broken = _broken_addresses(several, (old or {}).get("clusterIPs", []))
    errors += broken
    if len(several) > 2:
        errors.append(invalid("spec.clusterIPs", several, "may only hold up to 2 values"))
    if broken:
        # The checks below would report the same addresses again.
        return errors
    if len(several) > 1 and len({is_ipv6(each) for each in several}) == 1:
        problem = "may specify no more than one IP for each IP family"
        errors.append(invalid("spec.clusterIPs", several, problem))
    if not is_headless(spec):
        for index, (address, family) in enumerate(zip(several, families, strict=False)):
            if family in FAMILIES and is_ipv6(address) != (family == "IPv6"):
                problem = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                errors.append(invalid(f"spec.clusterIPs[{index}]", address, problem))
    return errors


def address_change_errors(spec: Object, old: Object) -> list[FieldError]:
    """Return the errors for forbidden changes of cluster IPs in an update.

    The IP families cannot change, because the cluster has only one.
    """
    if not needs_address(spec) or not needs_address(old):
        return []
    now, before = spec.get("clusterIPs", []), old.get("clusterIPs", [])
    return [
        invalid(f"spec.clusterIPs[{index}]", now, "may not change once set")
        for index, (each, was) in enumerate(zip(now, before, strict=False))
        if each != was
    ]


def is_ipv6(address: str) -> bool:
    """Return whether ``address`` is an IPv6 address."""
    return isinstance(sloppy_ip(address), IPv6Address)


def _is_unchanged_preference(spec: Object, old: Object | None) -> bool:
    return (
        old is not None
        and spec.get("ipFamilyPolicy") == "PreferDualStack"
        and old.get("ipFamilyPolicy", "PreferDualStack") == "PreferDualStack"
        and spec.get("type") == old.get("type") != WITHOUT_ADDRESS
        and spec.get("clusterIPs") == old.get("clusterIPs")
        and spec.get("ipFamilies") == old.get("ipFamilies")
    )


def _broken_addresses(addresses: list[str], accepted: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, address in enumerate(addresses):
        if index == 0 and address == "None":
            if len(addresses) > 1:
                problem = "'None' must be the first and only value"
                errors.append(invalid("spec.clusterIPs", addresses, problem))
        elif address not in accepted:
            errors += all_invalid(f"spec.clusterIPs[{index}]", address, ip(address))
    return errors


def _policy_error(spec: Object, problem: str) -> FieldError:
    return invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), problem)


def _put(spec: Object, field: str, value: list[Any]) -> None:
    """Set a field; an empty list removes the field."""
    if value:
        spec[field] = value
    else:
        spec.pop(field, None)


def _raise_if_any(name: str, errors: list[FieldError]) -> None:
    if errors:
        raise status_errors.invalid("Service", name, errors)
