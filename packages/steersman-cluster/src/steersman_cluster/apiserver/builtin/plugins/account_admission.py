"""The admission plugin ServiceAccount: sets a Pod's service account and mounts a token."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.object_meta import generate_name
from steersman_cluster.apiserver.meta.status_errors import StatusError, forbidden
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

DEFAULT_ACCOUNT: Final = "default"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
# kube-apiserver's value. It extends a token with this lifetime to a year, and warns clients that
# still send it after the requested expiry: they do not reload it.
TOKEN_SECONDS: Final = 3607

_PODS: Final = GroupResource("", "pods")
_ACCOUNTS: Final = GroupResource("", "serviceaccounts")
_MIRROR: Final = "kubernetes.io/config.mirror"
_ENFORCE: Final = "kubernetes.io/enforce-mountable-secrets"
_VOLUME: Final = "kube-api-access-"
_TRUE: Final = frozenset(("1", "t", "T", "TRUE", "true", "True"))


def admit_account(pod: Object, around: StrategyContext) -> None:
    """Set the Pod's service account and mount a token.

    A Pod whose account does not exist is rejected.
    """
    spec = pod["spec"]
    if _MIRROR in (pod["metadata"].get("annotations") or {}):
        _check_mirror(pod)
        return
    name = spec.get("serviceAccountName") or DEFAULT_ACCOUNT
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    namespace = pod["metadata"].get("namespace", "")
    account = around.find(_ACCOUNTS, namespace, name)
    if account is None:
        why = f"error looking up service account {namespace}/{name}"
        raise _refused(pod, f'{why}: serviceaccount "{name}" not found')
    if _is_mounted(account, spec):
        _mount_token(spec, around.rng)
    if not spec.get("imagePullSecrets") and (secrets := account.get("imagePullSecrets")):
        spec["imagePullSecrets"] = [{"name": each.get("name", "")} for each in secrets]
    if (account["metadata"].get("annotations") or {}).get(_ENFORCE) in _TRUE:
        _check_secrets(pod, account)


def _refused(pod: Object, why: str) -> StatusError:
    return forbidden(_PODS, pod["metadata"].get("name", ""), why)


def _check_mirror(pod: Object) -> None:
    """Reject a mirror Pod with a service account or Secrets.

    The kubelet runs mirror Pods without either.
    """
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        raise _refused(pod, "a mirror pod may not reference service accounts")
    volumes = spec.get("volumes") or ()
    projections = [
        source
        for volume in volumes
        for source in (volume.get("projected") or {}).get("sources") or ()
    ]
    if (
        spec.get("imagePullSecrets")
        or any("secret" in each for each in (*volumes, *projections))
        or any(True for _ in _secrets_of(_containers(spec)))
    ):
        raise _refused(pod, "a mirror pod may not reference secrets")
    if any("serviceAccountToken" in each for each in projections):
        raise _refused(pod, "a mirror pod may not use ServiceAccountToken volume projections")


def _is_mounted(account: Object, spec: Object) -> bool:
    for wish in (spec, account):
        if (mounted := wish.get("automountServiceAccountToken")) is not None:
            return bool(mounted)
    return True


def _mount_token(spec: Object, rng: Random) -> None:
    volumes = spec.get("volumes") or []
    there = next((each["name"] for each in volumes if each["name"].startswith(_VOLUME)), None)
    name = there or generate_name(_VOLUME, rng)
    is_needed = False
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        mounts = container.get("volumeMounts") or []
        if not any(each.get("mountPath") == MOUNT_PATH for each in mounts):
            mount = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}
            container["volumeMounts"] = [*mounts, mount]
            is_needed = True
    if is_needed and not there:
        spec["volumes"] = [*volumes, {"name": name, "projected": _token_volume()}]


def _token_volume() -> Object:
    token = {"expirationSeconds": TOKEN_SECONDS, "path": "token"}
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "sources": [
            {"serviceAccountToken": token},
            {"configMap": authority},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
        "defaultMode": 0o644,
    }


def _containers(spec: Object) -> Iterator[tuple[str, Object]]:
    for kind, called in (("initContainers", "init container"), ("containers", "container")):
        for each in spec.get(kind) or ():
            yield called, each


def _secrets_of(containers: Iterable[tuple[str, Object]]) -> Iterator[tuple[str, str]]:
    """Yield the name of every Secret that an environment variable of ``containers`` references.

    Each name comes with a description of the reference, for the error message.
    """
    for called, container in containers:
        where = f"{called} {container.get('name', '')} with"
        for env in container.get("env") or ():
            if ref := (env.get("valueFrom") or {}).get("secretKeyRef"):
                yield ref.get("name", ""), f"{where} envVar {env.get('name', '')} referencing"
        for source in container.get("envFrom") or ():
            if ref := source.get("secretRef"):
                yield ref.get("name", ""), f"{where} envFrom referencing"


def _check_secrets(pod: Object, account: Object) -> None:
    """Reject a Pod that uses a Secret that its service account does not list.

    Only an account with an annotation that enforces the list restricts its Pods.
    """
    spec, name = pod["spec"], account["metadata"]["name"]
    allowed = {each.get("name", "") for each in account.get("secrets") or ()}
    used = [
        (volume["secret"].get("secretName", ""), "volume with")
        for volume in spec.get("volumes") or ()
        if volume.get("secret")
    ]
    for secret, where in (*used, *_secrets_of(_containers(spec))):
        if secret not in allowed:
            why = f'{where} secret.secretName="{secret}" is not allowed because service account'
            raise _refused(pod, f"{why} {name} does not reference that secret")
    pulled = {each.get("name", "") for each in account.get("imagePullSecrets") or ()}
    for index, each in enumerate(spec.get("imagePullSecrets") or ()):
        if (secret := each.get("name", "")) not in pulled:
            why = f'imagePullSecrets[{index}].name="{secret}" is not allowed because service'
            raise _refused(pod, f"{why} account {name} does not reference that imagePullSecret")
