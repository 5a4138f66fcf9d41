"""The health endpoints ``/healthz``, ``/livez`` and ``/readyz``, and their checks.

A server that responds passes every check. The checks have kube-apiserver's names, because probes
request single checks by name.
"""

from steersman.wire import Reply
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.request_info import RequestInfo

HEALTHZ, LIVEZ, READYZ = "healthz", "livez", "readyz"
HEALTH = (f"/{HEALTHZ}", f"/{LIVEZ}", f"/{READYZ}")

_POST_START_HOOKS = tuple(
    f"poststarthook/{name}"
    for name in (
        "start-apiserver-admission-initializer",
        "generic-apiserver-start-informers",
        "priority-and-fairness-config-consumer",
        "priority-and-fairness-filter",
        "storage-object-count-tracker-hook",
        "start-apiextensions-informers",
        "start-apiextensions-controllers",
        "crd-informer-synced",
        "start-system-namespaces-controller",
        "peer-endpoint-reconciler-controller",
        "start-cluster-authentication-info-controller",
        "start-kube-apiserver-identity-lease-controller",
        "start-kube-apiserver-identity-lease-garbage-collector",
        "storage-readiness",
        "start-legacy-token-tracking-controller",
        "start-service-ip-repair-controllers",
        "rbac/bootstrap-roles",
        "scheduling/bootstrap-system-priority-classes",
        "priority-and-fairness-config-producer",
        "bootstrap-controller",
        "start-kubernetes-service-cidr-controller",
        "start-kube-aggregator-informers",
        "apiservice-status-local-available-controller",
        "apiservice-status-remote-available-controller",
        "apiservice-registration-controller",
        "apiservice-discovery-controller",
        "kube-apiserver-autoregistration",
    )
)
_REGISTERED = (
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
_ALIVE = (
    "ping",
    "log",
    "loopback-serving-certificate",
    "etcd",
    *_POST_START_HOOKS,
    *_REGISTERED,
)
CHECKS = {
    HEALTHZ: _ALIVE,
    LIVEZ: _ALIVE,
    READYZ: (
        "ping",
        "log",
        "etcd",
        "etcd-readiness",
        "informer-sync",
        *_POST_START_HOOKS,
        *_REGISTERED,
        "shutdown",
    ),
}


def health(info: RequestInfo) -> Reply:
    """Return the reply of the health endpoint that ``info`` names."""
    name, _, check = info.path.strip("/").partition("/")
    checks = CHECKS.get(name, ())
    if check:
        return replies.text(200, "ok") if check in checks else replies.path_not_found()
    if not checks:
        return replies.path_not_found()
    if "verbose" not in info.query:
        return replies.unsniffed_text(200, "ok")
    excluded = dict.fromkeys(info.query.get("exclude", ()))
    lines = [f"[+]{each} excluded: ok" if each in excluded else f"[+]{each} ok" for each in checks]
    if unknown := sorted(set(excluded) - set(checks)):
        named = ",".join(f'"{each}"' for each in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {named}")
    passed = "".join(f"{each}\n" for each in [*lines, f"{name} check passed"])
    return replies.unsniffed_text(200, passed)
