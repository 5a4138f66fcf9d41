"""The checks of the Pod Security Standards baseline and restricted.

Each check applies the rules of a minor version of Kubernetes to a Pod. A check returns what is
forbidden and where it occurs, or None if there is no violation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from steersman_cluster.apiserver.meta.strategy import Object

NEWEST: Final = 35  # no check has changed since


class Pod(NamedTuple):
    """The checked parts of a Pod or Pod template, and the minor version of the checks."""

    annotations: Mapping[str, str]
    spec: Object
    minor: int

    def containers(self) -> Iterator[tuple[str, Object, Object]]:
        """Yield the name of each container, the container, and its security context."""
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for each in self.spec.get(kind) or ():
                yield each.get("name", ""), each, each.get("securityContext") or {}

    @property
    def context(self) -> Object:
        context: Object = self.spec.get("securityContext") or {}
        return context

    @property
    def is_windows(self) -> bool:
        return self.minor >= 25 and (self.spec.get("os") or {}).get("name") == "windows"

    @property
    def has_own_users(self) -> bool:
        return self.minor >= 35 and self.spec.get("hostUsers") is False


Finding: TypeAlias = tuple[str, str] | None
Check: TypeAlias = Callable[[Pod], Finding]

_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_DEFAULT_CAPABILITIES: Final = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
_LABELS: Final = ("", "container_t", "container_init_t", "container_kvm_t")
# The safe sysctls, with the minor version since which each is safe.
_SYSCTLS: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}
_HARMLESS: Final = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def _quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def _some(items: list[str], one: str, many: str = "") -> str:
    return one if len(items) == 1 else many or f"{one}s"


def _named(containers: list[str]) -> str:
    return f"{_some(containers, 'container')} {_quoted(containers)}"


def _setters(containers: list[str], *, pod: bool) -> str:
    """Return where a violation occurs, as text: the Pod, some of its containers, or both."""
    found = ["pod"] if pod else []
    return " and ".join([*found, _named(containers)] if containers else found)


def _profiles(pod: Pod, field: str) -> tuple[str, list[str]]:
    """Return where forbidden profiles are set, and their types."""

    def bad(context: Object) -> list[str]:
        kind = (context.get(field) or {}).get("type", _PROFILES[0])
        return [] if kind in _PROFILES else [kind]

    of_pod = bad(pod.context)
    of_containers = {name: bad(context) for name, _, context in pod.containers()}
    named = [name for name, each in of_containers.items() if each]
    values = {*of_pod, *(value for each in of_containers.values() for value in each)}
    return _setters(named, pod=bool(of_pod)), sorted(values)


def _app_armor(pod: Pod) -> Finding:
    setters, values = _profiles(pod, "appArmorProfile")
    annotations = sorted(
        f'{key}="{value}"'
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    if annotations:
        said = _some(annotations, "annotation")
        setters = f"{setters} and {said}" if setters else said
    if not setters:
        return None
    every = [*values, *annotations]
    reason = f"forbidden AppArmor {_some(every, 'profile')}"
    return reason, f"{setters} must not set AppArmor profile type to {_quoted(every)}"


def _added(pod: Pod, allowed: Iterable[str]) -> tuple[list[str], list[str]]:
    containers: list[str] = []
    found: set[str] = set()
    for name, _, context in pod.containers():
        extra = set((context.get("capabilities") or {}).get("add") or ()) - set(allowed)
        containers += [name] if extra else []
        found |= extra
    return containers, sorted(found)


def _capabilities(pod: Pod) -> Finding:
    containers, found = _added(pod, _DEFAULT_CAPABILITIES)
    if not containers:
        return None
    what = f"must not include {_quoted(found)} in securityContext.capabilities.add"
    return "non-default capabilities", f"{_named(containers)} {what}"


def _host_namespaces(pod: Pod) -> Finding:
    found = [f"{each}=true" for each in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(each)]
    return ("host namespaces", ", ".join(found)) if found else None


def _host_paths(pod: Pod) -> Finding:
    found = [each.get("name", "") for each in pod.spec.get("volumes") or () if "hostPath" in each]
    return ("hostPath volumes", f"{_some(found, 'volume')} {_quoted(found)}") if found else None


def _host_ports(pod: Pod) -> Finding:
    containers: list[str] = []
    ports: set[str] = set()
    for name, container, _ in pod.containers():
        used = [
            str(each["hostPort"]) for each in container.get("ports") or () if each.get("hostPort")
        ]
        containers += [name] if used else []
        ports.update(used)
    if not containers:
        return None
    use = f"{_some(containers, 'uses', 'use')} {_some([*ports], 'hostPort')}"
    return "hostPort", f"{_named(containers)} {use} {', '.join(sorted(ports))}"


def _hosts(pod: Pod) -> Finding:
    containers: set[str] = set()
    hosts: set[str] = set()
    for name, container, _ in pod.containers():
        handlers = [container.get(each) for each in _PROBES]
        handlers += (container.get("lifecycle") or {}).values()
        for handler in handlers:
            for action in ("httpGet", "tcpSocket"):
                if host := ((handler or {}).get(action) or {}).get("host"):
                    containers.add(name)
                    hosts.add(host)
    if not containers:
        return None
    bad = sorted(containers)
    use = f"{_some(bad, 'uses', 'use')} {_some([*hosts], 'probe or lifecycle host')}"
    return "probe or lifecycle host", f"{_named(bad)} {use} {_quoted(sorted(hosts))}"


def _privileged(pod: Pod) -> Finding:
    bad = [name for name, _, context in pod.containers() if context.get("privileged")]
    what = "must not set securityContext.privileged=true"
    return ("privileged", f"{_named(bad)} {what}") if bad else None


def _proc_mount(pod: Pod) -> Finding:
    found = {
        name: mount
        for name, _, context in pod.containers()
        if (mount := context.get("procMount", "Default")) != "Default"
    }
    if not found:
        return None
    what = f"must not set securityContext.procMount to {_quoted(sorted({*found.values()}))}"
    return "procMount", f"{_named([*found])} {what}"


def _baseline_proc_mount(pod: Pod) -> Finding:
    return None if pod.has_own_users else _proc_mount(pod)


def _se_linux(pod: Pod) -> Finding:
    allowed = (*_LABELS, "container_engine_t") if pod.minor >= 31 else _LABELS
    kinds: set[str] = set()
    others: set[str] = set()

    def is_bad(context: Object) -> bool:
        options = context.get("seLinuxOptions") or {}
        wrong = {options.get("type", "")} - {*allowed}
        set_ = {each for each in ("user", "role") if options.get(each)}
        kinds.update(wrong)
        others.update(set_)
        return bool(wrong or set_)

    of_pod = is_bad(pod.context)
    setters = _setters([name for name, _, each in pod.containers() if is_bad(each)], pod=of_pod)
    if not setters:
        return None
    data = [f"{_some([*kinds], 'type')} {_quoted(sorted(kinds))}"] if kinds else []
    data += [f"{each} may not be set" for each in ("user", "role") if each in others]
    what = f"set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    return "seLinuxOptions", f"{setters} {what}"


def _seccomp(pod: Pod) -> Finding:
    setters, values = _profiles(pod, "seccompProfile")
    if not setters:
        return None
    what = f"must not set securityContext.seccompProfile.type to {_quoted(values)}"
    return "seccompProfile", f"{setters} {what}"


def _sysctls(pod: Pod) -> Finding:
    named = [each.get("name", "") for each in pod.context.get("sysctls") or ()]
    bad = [each for each in named if _SYSCTLS.get(each, NEWEST + 1) > pod.minor]
    return ("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(pod: Pod) -> Finding:
    def is_bad(context: Object) -> bool:
        return bool((context.get("windowsOptions") or {}).get("hostProcess"))

    bad = [name for name, _, context in pod.containers() if is_bad(context)]
    setters = _setters(bad, pod=is_bad(pod.context))
    what = "must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", f"{setters} {what}") if setters else None


def _escalation(pod: Pod) -> Finding:
    bad = [
        name
        for name, _, context in pod.containers()
        if context.get("allowPrivilegeEscalation", True)
    ]
    if not bad or pod.is_windows:
        return None
    what = "must set securityContext.allowPrivilegeEscalation=false"
    return "allowPrivilegeEscalation != false", f"{_named(bad)} {what}"


def _dropped_capabilities(pod: Pod) -> Finding:
    keeping = [
        name
        for name, _, context in pod.containers()
        if "ALL" not in ((context.get("capabilities") or {}).get("drop") or ())
    ]
    containers, found = _added(pod, ("NET_BIND_SERVICE",))
    details: list[str] = []
    if keeping:
        details.append(f'{_named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if containers:
        what = f"must not include {_quoted(found)} in securityContext.capabilities.add"
        details.append(f"{_named(containers)} {what}")
    if not details or pod.is_windows:
        return None
    return "unrestricted capabilities", "; ".join(details)


def _volumes(pod: Pod) -> Finding:
    bad: list[str] = []
    kinds: set[str] = set()
    for volume in pod.spec.get("volumes") or ():
        if not _HARMLESS & volume.keys():
            bad.append(volume.get("name", ""))
            kinds.add(next((each for each in volume if each != "name"), "unknown"))
    if not bad:
        return None
    use = f"{_some(bad, 'uses', 'use')} {_some([*kinds], 'restricted volume type')}"
    what = f"{use} {_quoted(sorted(kinds))}"
    return "restricted volume types", f"{_some(bad, 'volume')} {_quoted(bad)} {what}"


def _non_root(pod: Pod) -> Finding:
    own = pod.context.get("runAsNonRoot")
    said = {name: context.get("runAsNonRoot") for name, _, context in pod.containers()}
    setters = _setters([name for name, each in said.items() if each is False], pod=own is False)
    silent = [name for name, each in said.items() if each is None and not own]
    if pod.has_own_users or not (setters or silent):
        return None
    what = "must not set securityContext.runAsNonRoot=false"
    if not setters:
        setters, what = f"pod or {_named(silent)}", "must set securityContext.runAsNonRoot=true"
    return "runAsNonRoot != true", f"{setters} {what}"


def _root(pod: Pod) -> Finding:
    bad = [name for name, _, context in pod.containers() if context.get("runAsUser") == 0]
    setters = _setters(bad, pod=pod.context.get("runAsUser") == 0)
    if pod.has_own_users or not setters:
        return None
    return "runAsUser=0", f"{setters} must not set runAsUser=0"


def _needed_seccomp(pod: Pod) -> Finding:
    if pod.is_windows:
        return None
    if found := _seccomp(pod):
        return found
    if "seccompProfile" in pod.context:
        return None
    silent = [name for name, _, context in pod.containers() if "seccompProfile" not in context]
    what = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return ("seccompProfile", f"pod or {_named(silent)} {what}") if silent else None


# Each check with its first minor version, in kube-apiserver's order of violations.
_BASELINE: Final[tuple[tuple[Check, int], ...]] = (
    (_app_armor, 0),
    (_capabilities, 0),
    (_host_namespaces, 0),
    (_host_paths, 0),
    (_host_ports, 0),
    (_hosts, 34),
    (_privileged, 0),
    (_baseline_proc_mount, 0),
    (_se_linux, 0),
    (_seccomp, 19),
    (_sysctls, 0),
    (_host_process, 0),
)
_RESTRICTED: Final[tuple[tuple[Check, int], ...]] = (
    (_escalation, 8),
    (_dropped_capabilities, 22),
    (_proc_mount, 35),
    (_volumes, 0),
    (_non_root, 0),
    (_root, 23),
    (_needed_seccomp, 19),
)
# Baseline checks that a restricted check includes, each with the minor version since which it does.
_OVERRIDDEN: Final[Mapping[Check, int]] = {
    _capabilities: 22,
    _baseline_proc_mount: 35,
    _host_paths: 0,
    _seccomp: 19,
}


def violations(pod: Pod, *, restricted: bool) -> list[tuple[str, str]]:
    """Return what the baseline standard, or the ``restricted`` one, forbids in ``pod``.

    Each item also contains where the violation occurs in ``pod``.
    """
    checks = [
        check
        for check, since in _BASELINE
        if pod.minor >= since
        and not (restricted and pod.minor >= _OVERRIDDEN.get(check, NEWEST + 1))
    ]
    if restricted:
        checks += [check for check, since in _RESTRICTED if pod.minor >= since]
    return [found for check in checks if (found := check(pod)) is not None]
