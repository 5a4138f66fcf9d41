"""Converts kube-apiserver's flags to the settings of an embedded cluster."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import NamedTuple

from steersman_cluster.apiserver import (
    ADMISSION_PLUGINS,
    AUTHORIZATION_MODES,
    ClusterSettings,
    ServerOptions,
)
from steersman_cluster.commands.launchers import BadFlag, ParsedFlags
from steersman_cluster.commands.launchers.apiserver_flags import HONORED, MODES, PLUGINS

USUAL_PORT = 6443
USUAL_CERTIFICATES = "/var/run/kubernetes"
USUAL_ADDRESSES = "10.0.0.0/24"


class ParsedSettings(NamedTuple):
    """Settings, without the data directory, and notes to the user about flags without effect."""

    settings: ClusterSettings
    notes: list[str]


def parse_settings(given: ParsedFlags) -> ParsedSettings:
    """Return the settings for the flags ``given``.

    If flags are missing or invalid, raise one ``BadFlag`` with all errors, in the words of
    kube-apiserver.
    """
    if problems := list(_problems(given)):
        raise BadFlag(f"[{', '.join(problems)}]" if len(problems) > 1 else problems[0])
    host = given.one("bind-address", "0.0.0.0").strip()  # noqa: S104 - as kube-apiserver does
    settings = ClusterSettings(
        host=host,
        port=int(given.one("secure-port", str(USUAL_PORT))),
        tls_cert_file=_path(given, "tls-cert-file"),
        tls_private_key_file=_path(given, "tls-private-key-file"),
        cert_dir=Path(given.one("cert-dir", USUAL_CERTIFICATES)),
        client_ca_file=_path(given, "client-ca-file"),
        token_auth_file=_path(given, "token-auth-file"),
        service_account_key_files=tuple(map(Path, given.each("service-account-key-file"))),
        service_account_signing_key_file=_path(given, "service-account-signing-key-file"),
        service_account_issuers=given.each("service-account-issuer"),
        api_audiences=given.listed("api-audiences"),
        advertise_address=given.one("advertise-address").strip() or None,
        options=_terms(given),
        # A start by this name and with these flags is no accident.
        even_in_a_cluster=True,
        share_port=given.yes("permit-port-sharing"),
    )
    return ParsedSettings(settings, list(_notes(given)))


def _path(given: ParsedFlags, name: str) -> Path | None:
    value = given.one(name)
    return Path(value) if value else None


def _problems(given: ParsedFlags) -> Iterator[str]:
    if not given.listed("etcd-servers"):
        yield "--etcd-servers must be specified"
    port = int(given.one("secure-port", str(USUAL_PORT)))
    if not 0 < port < 65536:
        why = "must be between 1 and 65535, inclusive. It cannot be turned off with 0"
        yield f"--secure-port {port} {why}"
    issuers, signing = given.each("service-account-issuer"), "service-account-signing-key-file"
    if not any(issuers):
        yield "service-account-issuer is a required flag"
    if not given.each("service-account-key-file"):
        yield (
            "either `--service-account-key-file` or `--service-account-signing-endpoint` must be"
            " set"
        )
    for mode in given.listed("authorization-mode"):
        if mode not in MODES:
            yield f'authorization-mode "{mode}" is not a valid mode'
        elif mode not in AUTHORIZATION_MODES:
            yield f'authorization-mode "{mode}" is not available in the embedded server'
    for flag in ("enable-admission-plugins", "disable-admission-plugins"):
        for plugin in given.listed(flag):
            if plugin not in PLUGINS:
                yield f'{flag} plugin "{plugin}" is unknown'
    if not given.one(signing):
        yield (
            f"--{signing}, --service-account-issuer, and --api-audiences should be specified"
            " together"
            if any(issuers)
            else f"--{signing} and --service-account-issuer are required flags"
        )
    try:
        _network(given)
    except ValueError as error:
        yield f"error parsing --service-cluster-ip-range: {error}"
    try:
        _ports(given)
    except ValueError:
        yield f"--service-node-port-range {given.one('service-node-port-range')}: not a port range"


def _terms(given: ParsedFlags) -> ServerOptions:
    modes = given.listed("authorization-mode") or ("AlwaysAllow",)
    return replace(
        ServerOptions(),
        authorization_mode=modes,
        # As in kube-apiserver: AlwaysAllow disables anonymous requests.
        anonymous_auth=given.yes("anonymous-auth", default=True) and "AlwaysAllow" not in modes,
        admission_plugins=ADMISSION_PLUGINS - set(given.listed("disable-admission-plugins")),
        service_cluster_ip_range=_network(given),
        service_node_port_range=_ports(given),
    )


def _network(given: ParsedFlags) -> IPv4Network:
    """Return the first service IP range, which must be IPv4."""
    ranges = given.one("service-cluster-ip-range", USUAL_ADDRESSES).split(",")
    return IPv4Network(ranges[0].strip(), strict=False)


def _ports(given: ParsedFlags) -> range:
    written = given.one("service-node-port-range", "30000-32767")
    first, plus, count = written.partition("+")
    if plus:
        return range(int(first), int(first) + int(count) + 1)
    first, _, last = written.partition("-")
    return range(int(first), int(last or first) + 1)


def _notes(given: ParsedFlags) -> Iterator[str]:
    idle = [f"--{name}" for name in given if name not in HONORED]
    if given.yes("allow-privileged"):
        idle.remove("--allow-privileged")  # as everything here is
    if idle:
        yield f"accepted, but ignored: {' '.join(idle)}"
    plugins = {
        name
        for flag in ("enable-admission-plugins", "disable-admission-plugins")
        for name in given.listed(flag)
        if name not in ADMISSION_PLUGINS
    }
    if plugins:
        yield f"admission plugins not implemented, or always enabled: {' '.join(sorted(plugins))}"
    if "," in given.one("service-cluster-ip-range"):
        yield "Services use only addresses of the first --service-cluster-ip-range"
