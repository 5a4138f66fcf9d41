"""Namespaces: creation, the NamespaceLifecycle admission plugin, and finalization.

A deleted namespace stays in the phase Terminating until the namespace controller has deleted its
contents and removed its ``spec.finalizers``. Until then, the server rejects new objects in the
namespace.
"""

from collections.abc import Mapping
from dataclasses import replace

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError, all_invalid, invalid
from steersman_cluster.apiserver.meta.name_validation import label_key, label_name
from steersman_cluster.apiserver.meta.object_meta import STANDARD_FINALIZERS
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

NAMESPACES = GroupResource("", "namespaces")
IMMORTAL = ("default", "kube-system", "kube-public")
NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"


def check_namespace(
    around: StrategyContext, namespace: str, *, resource: GroupResource, name: str, creating: bool
) -> None:
    """Reject any write into a missing namespace, and a create in a terminating namespace.

    ``resource`` and ``name`` are those of the written object.
    """
    found = around.find(NAMESPACES, "", namespace)
    if found is None:
        raise status_errors.not_found(NAMESPACES, namespace)
    if creating and found["status"].get("phase") == "Terminating":
        error = status_errors.forbidden(
            resource,
            name,
            f"unable to create new content in namespace {namespace} because it is being terminated",
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        error.details = {**(error.details or {}), "causes": [cause]}
        raise error


def check_deletable(name: str) -> None:
    """Raise an error if ``name`` is a namespace that must not be deleted."""
    if name in IMMORTAL:
        raise status_errors.forbidden(NAMESPACES, name, "this namespace may not be deleted")


def terminating(namespace: Object, now: str) -> Object:
    """Return ``namespace`` as its first DELETE stores it."""
    return {
        **namespace,
        "metadata": {**namespace["metadata"], "deletionTimestamp": now},
        "status": {**namespace["status"], "phase": "Terminating"},
    }


def _begin_end(namespace: Object, now: str) -> Object:
    check_deletable(namespace["metadata"]["name"])
    ending = namespace["metadata"].get("deletionTimestamp")
    return namespace if ending else terminating(namespace, now)


def _blocks_deletion(namespace: Object) -> bool:
    return bool(namespace.get("spec", {}).get("finalizers"))


def _default(namespace: Object) -> None:
    _label(namespace["metadata"])
    status = namespace.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"


def _label(metadata: Object) -> None:
    if name := metadata.get("name"):
        metadata["labels"] = {**metadata.get("labels", {}), NAME_LABEL: name}


def _prepare_create(namespace: Object, _: StrategyContext) -> None:
    _label(namespace["metadata"])  # with generateName, the name is new
    namespace["status"] = {"phase": "Active"}
    finalizers = namespace.get("spec", {}).get("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers = [*finalizers, FINALIZER]
    namespace["spec"] = {"finalizers": finalizers}


def _prepare_update(namespace: Object, old: Object, _: StrategyContext) -> None:
    namespace["spec"] = old["spec"]


def _prepare_finalize(namespace: Object, old: Object, _: StrategyContext) -> None:
    namespace["status"] = old["status"]


def _errors(namespace: Object) -> list[FieldError]:
    return [
        error
        for finalizer in namespace.get("spec", {}).get("finalizers", ())
        for error in _finalizer_errors("spec.finalizers", finalizer)
    ]


def _finalize_errors(namespace: Object) -> list[FieldError]:
    return [
        error
        for index, finalizer in enumerate(namespace.get("spec", {}).get("finalizers", ()))
        for error in _finalizer_errors(f"spec.finalizers[{index}]", finalizer)
    ]


def _finalizer_errors(at: str, finalizer: str) -> list[FieldError]:
    errors = all_invalid(at, finalizer, label_key(finalizer))
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        problem = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(invalid(at, finalizer, problem))
    return errors


def _status_errors(namespace: Object, _: Object) -> list[FieldError]:
    phase = namespace.get("status", {}).get("phase", "")
    ending = bool(namespace["metadata"].get("deletionTimestamp"))
    expected, state = ("Terminating", "is not") if ending else ("Active", "is")
    if phase == expected:
        return []
    problem = f"may only be '{expected}' if `deletionTimestamp` {state} empty"
    # kube-apiserver's error has the capital letter.
    return [invalid("status.Phase", phase, problem)]


def _selectable(namespace: Object) -> Mapping[str, str]:
    return {
        "metadata.name": namespace["metadata"].get("name", ""),
        "status.phase": namespace.get("status", {}).get("phase", ""),
    }


NAMESPACE = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    validate=_errors,
    validate_status=_status_errors,
    name_errors=label_name,
    selectable=_selectable,
    has_status=True,
    return_deleted_object=True,
    begin_deletion=_begin_end,
    blocks_deletion=_blocks_deletion,
)

# For ``namespaces/NAME/finalize``, the only path that changes the finalizers of the spec.
NAMESPACE_FINALIZE = replace(NAMESPACE, prepare_update=_prepare_finalize, validate=_finalize_errors)
