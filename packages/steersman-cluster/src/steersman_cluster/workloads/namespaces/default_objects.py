"""The default objects of every namespace: a ServiceAccount and the root certificate."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from steersman.client import MergePatch
from steersman.controller import CacheReader, Context, Controller, Done, Outcome, Watch, Writes
from steersman.errors import AlreadyExists, ApiError
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.api_errors import is_namespace_terminating

ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"

DESCRIPTION: Final = "kubernetes.io/description"
# Kubernetes' own text.
DESCRIBED: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal"
    " endpoints such as the internal service IP or kubernetes.default.svc. No other usage is"
    " guaranteed across distributions of Kubernetes clusters."
)


def default_objects_controller(*, root_ca: str) -> Controller[core_v1.Namespace]:
    """Return the controller that maintains the default objects of each namespace.

    ``root_ca`` is the root certificate that the ConfigMap ``kube-root-ca.crt`` contains.
    """
    return Controller(
        core_v1.Namespace,
        name="namespace-furnisher",
        reconcile=partial(ensure_default_objects, root_ca=root_ca),
        watches=(
            Watch(core_v1.ServiceAccount, to=_home_of_account),
            Watch(core_v1.ConfigMap, to=_home_of_root_ca),
        ),
        writes=(Writes(core_v1.ServiceAccount, verbs=("create",)), core_v1.ConfigMap),
        # A namespace takes two writes in its lifetime.
        workers=1,
    )


async def ensure_default_objects(
    namespace: core_v1.Namespace, ctx: Context, *, root_ca: str
) -> Outcome:
    """Create or correct the default ServiceAccount and the root certificate of ``namespace``."""
    if namespace.status is None or namespace.status.phase != "Active":
        return Done()
    home = namespace.name
    if ctx.get(core_v1.ServiceAccount, ACCOUNT, namespace=home) is None:
        await _create(ctx, core_v1.ServiceAccount(metadata=_metadata(ACCOUNT, home)))
    there = ctx.get(core_v1.ConfigMap, ROOT_CA, namespace=home)
    if there is None:
        described = {DESCRIPTION: DESCRIBED}
        metadata = _metadata(ROOT_CA, home, annotations=described)
        await _create(ctx, core_v1.ConfigMap(metadata=metadata, data={"ca.crt": root_ca}))
    elif change := correction(there, root_ca=root_ca):
        await ctx.patch(there, MergePatch(change))
    return Done()


def correction(found: core_v1.ConfigMap, *, root_ca: str) -> dict[str, Any]:
    """Return the patch that corrects ``found``, the ConfigMap with the root certificate.

    The patch is empty if the ConfigMap is already correct.
    """
    data = found.data or {}
    if data == {"ca.crt": root_ca} and found.annotations.get(DESCRIPTION):
        return {}
    only: Mapping[str, str | None] = dict.fromkeys(data)
    return {
        "data": {**only, "ca.crt": root_ca},
        "metadata": {"annotations": {DESCRIPTION: DESCRIBED}},
    }


def _metadata(
    name: str, namespace: str, annotations: Mapping[str, str] | None = None
) -> meta_v1.ObjectMeta:
    return meta_v1.ObjectMeta(name=name, namespace=namespace, annotations=annotations)


async def _create(ctx: Context, obj: core_v1.ServiceAccount | core_v1.ConfigMap) -> None:
    try:
        await ctx.create(obj)
    except AlreadyExists:
        pass  # Its event is on its way.
    except ApiError as error:
        # The deletion of the namespace has begun since its last event.
        if error.code != 404 and not is_namespace_terminating(error):
            raise


def _home_of_account(account: core_v1.ServiceAccount, cached: CacheReader) -> Iterable[ObjectKey]:  # noqa: ARG001
    return _home(account, ACCOUNT)


def _home_of_root_ca(found: core_v1.ConfigMap, cached: CacheReader) -> Iterable[ObjectKey]:  # noqa: ARG001
    return _home(found, ROOT_CA)


def _home(obj: core_v1.ServiceAccount | core_v1.ConfigMap, name: str) -> Iterable[ObjectKey]:
    return (ObjectKey(None, obj.namespace or ""),) if obj.name == name else ()
