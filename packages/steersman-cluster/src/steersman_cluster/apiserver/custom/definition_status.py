"""The status of CustomResourceDefinitions: accepted names, establishment and termination.

In kube-apiserver, controllers set this status shortly after a write. In steersman, the status is
computed synchronously from the CRD and from the earlier CRDs of the same API group.
"""

from collections.abc import Iterable
from typing import Any, Final

from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.formats import is_request_uri

FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
APPROVAL: Final = "api-approved.kubernetes.io"

_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"


def accepted(crd: Object, others: Iterable[Object], *, now: str) -> Object:
    """Return ``crd`` with updated accepted names and conditions; ``crd`` itself if unchanged.

    ``others`` contains the other CRDs. ``now`` is the time of changed conditions.
    """
    status = _status(crd)
    conditions = [dict(each) for each in status.get("conditions") or ()]
    approval = approval_condition(crd)
    if approval is not None:
        _set(conditions, approval, now)
    spec_names = crd["spec"]["names"]
    if spec_names != status["acceptedNames"]:
        names, naming = _naming(spec_names, status["acceptedNames"], _in_use(crd, others))
        status["acceptedNames"] = names
        _set(conditions, naming, now)
        if not _is_true(conditions, "Established"):
            _set(conditions, _establishing(naming["status"] == "True"), now)
    status["conditions"] = conditions or status.get("conditions")
    return crd if status == crd.get("status") else {**crd, "status": status}


def _status(crd: Object) -> Object:
    nothing = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    return {**nothing, "storedVersions": None, **(crd.get("status") or {})}


def is_established(crd: Object) -> bool:
    """Whether the server serves the resources that ``crd`` defines."""
    return _is_true((crd.get("status") or {}).get("conditions") or (), "Established")


def is_ending(crd: Object) -> bool:
    """Whether ``crd`` is being deleted together with its objects; if so, creates are rejected."""
    if crd["metadata"].get("deletionTimestamp"):
        return True
    return _is_true((crd.get("status") or {}).get("conditions") or (), "Terminating")


def _is_true(conditions: Iterable[Object], kind: str) -> bool:
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _in_use(crd: Object, others: Iterable[Object]) -> tuple[set[str], set[str]]:
    """Return the resource names and the kinds that other CRDs of the same group use."""
    group = crd["spec"]["group"]
    resources, kinds = set[str](), set[str]()
    for other in others:
        if other["spec"]["group"] != group:
            continue
        names = _status(other)["acceptedNames"]
        resources |= {names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind"), names.get("listKind")}
    return resources, kinds


def _naming(
    wanted: Object, accepted: Object, in_use: tuple[set[str], set[str]]
) -> tuple[Object, Object]:
    """Return the accepted names, and the ``NamesAccepted`` condition."""
    resources, kinds = in_use
    names = dict(accepted)
    problem: tuple[str, str] | None = None
    for key, used, reason in (
        ("plural", resources, "PluralConflict"),
        ("singular", resources, "SingularConflict"),
        ("shortNames", resources, "ShortNamesConflict"),
        ("kind", kinds, "KindConflict"),
        ("listKind", kinds, "ListKindConflict"),
    ):
        asked, had = wanted.get(key), accepted.get(key)
        taken = [each for each in _listed(asked) if each in used and each not in _listed(had)]
        if taken:
            sentences = [f"{shown(each)} is already in use" for each in taken]
            text = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
            problem = reason, text
        elif asked:
            names[key] = asked
        else:
            names.pop(key, None)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    else:
        names.pop("categories", None)
    order = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    names = {key: names[key] for key in order if key in names}
    if problem is None:
        return names, _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    return names, _condition("NamesAccepted", "False", *problem)


def _listed(names: Any) -> list[str]:
    return names if isinstance(names, list) else [names] if names else []


def _establishing(are_accepted: bool) -> Object:
    if are_accepted:
        why = "the initial names have been accepted"
        return _condition("Established", "True", "InitialNamesAccepted", why)
    return _condition("Established", "False", "NotAccepted", "not all names are accepted")


def is_protected(group: str) -> bool:
    """Whether the API group ``group`` is reserved for the Kubernetes community."""
    return f".{group}".endswith((".k8s.io", ".kubernetes.io"))


def approval_of(crd: Object) -> tuple[str, str]:
    """Return the reason and the message of the API approval condition of ``crd``."""
    said = (crd["metadata"].get("annotations") or {}).get(APPROVAL, "")
    must = f"protected groups must have approval annotation {shown(APPROVAL)}"
    if not said:
        return "MissingAnnotation", f"{must}, {_SEE}"
    if said.startswith("unapproved"):
        return "UnapprovedAnnotation", f"not approved: {shown(said)}"
    scheme, _, rest = said.partition("://")
    if is_request_uri(said) and scheme and rest and not rest.startswith("/"):
        return "ApprovedAnnotation", f"approved in {said}"
    either = 'with either a URL or a reason starting with "unapproved"'
    return "InvalidAnnotation", f"{must} {either}, {_SEE}"


def approval_condition(crd: Object) -> Object | None:
    """Return the API approval condition of ``crd`` if its group is protected, else None."""
    if not is_protected(crd["spec"]["group"]):
        return None
    reason, message = approval_of(crd)
    status = "True" if reason == "ApprovedAnnotation" else "False"
    return _condition("KubernetesAPIApprovalPolicyConformant", status, reason, message)


def terminating(crd: Object, now: str) -> Object:
    """Return ``crd`` as it is stored after a DELETE.

    A finalizer keeps it until its objects are deleted.
    """
    metadata = crd["metadata"]
    finalizers = metadata.get("finalizers") or []
    if FINALIZER not in finalizers:
        finalizers = [*finalizers, FINALIZER]
    ending = {**metadata, "deletionTimestamp": metadata.get("deletionTimestamp", now)}
    why = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    fresh = {**crd, "metadata": {**ending, "finalizers": finalizers}}
    return _with(fresh, _condition("Terminating", "True", "InstanceDeletionPending", why), now)


def instances_gone(crd: Object, *, now: str) -> Object:
    """Return ``crd`` without its finalizer, as stored after its objects were deleted.

    Returns ``crd`` itself if it does not have the finalizer.
    """
    metadata = dict(crd["metadata"])
    if FINALIZER not in (metadata.get("finalizers") or ()):
        return crd
    metadata["finalizers"] = [each for each in metadata["finalizers"] if each != FINALIZER]
    if not metadata["finalizers"]:
        del metadata["finalizers"]
    ended = (
        ("InstanceDeletionCompleted", "removed all instances")
        if is_established(crd)
        else ("NeverEstablished", "resource was never established")
    )
    return _with({**crd, "metadata": metadata}, _condition("Terminating", "False", *ended), now)


def _with(crd: Object, condition: Object, now: str) -> Object:
    status = _status(crd)
    conditions = [dict(each) for each in status["conditions"] or ()]
    _set(conditions, condition, now)
    return {**crd, "status": {**status, "conditions": conditions}}


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _set(conditions: list[Object], wanted: Object, now: str) -> None:
    """Replace the condition that has the type of ``wanted``.

    ``lastTransitionTime`` changes only if the status changes.
    """
    for each in conditions:
        if each["type"] == wanted["type"]:
            if each["status"] != wanted["status"]:
                each["lastTransitionTime"] = now
            each |= wanted
            return
    kind, status = wanted["type"], wanted["status"]
    conditions.append({"type": kind, "status": status, "lastTransitionTime": now, **wanted})
