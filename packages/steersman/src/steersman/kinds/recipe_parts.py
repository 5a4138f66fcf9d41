"""Functions that build the parts of recipes: metadata, labels and Pods.

The values are checked as the API server would check them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from steersman.errors import BadName, BadValue
from steersman.kinds import core_v1, meta_v1
from steersman.kinds.base import replace
from steersman.names import check_label, check_label_key, check_label_value, check_subdomain

if TYPE_CHECKING:
    from steersman.kinds import batch_v1

# The recommended label for the name of the application.
NAME_LABEL: Final = "app.kubernetes.io/name"

Words: TypeAlias = Mapping[str, str]
SomeWords = TypeVar("SomeWords", bound=Words | None)

_DATA_KEY: Final = r"(?!\.$|\.\.)[-._A-Za-z0-9]{1,253}"


def metadata(
    name: str,
    what: str,
    namespace: str | None,
    labels: Words | None,
    annotations: Words | None,
    *,
    check: Callable[..., str] = check_subdomain,
) -> meta_v1.ObjectMeta:
    """Return the metadata of an object; ``check`` validates ``name``.

    ``what`` names the object in errors, such as "a Deployment". The labels must be validated
    already.
    """
    if namespace is not None:
        check_label(namespace, wanted="a namespace")
    for key in annotations or ():
        check_label_key(key)
    return meta_v1.ObjectMeta(
        name=check(name, wanted=f"the name of {what}"),
        namespace=namespace,
        labels=labels,
        annotations=annotations,
    )


def selected(name: str, selector: Words | None) -> Words:
    """Return ``selector``, validated; by default, the label of the application ``name``."""
    if selector is not None:
        if not selector:
            raise BadValue(
                wanted="a selector",
                value={},
                rule="it must contain a label; an empty selector selects all Pods",
            )
        return checked_labels(selector)
    try:
        return {NAME_LABEL: check_label_value(name)}
    except BadName as error:
        rule = f"it is the value of the label {NAME_LABEL}, and {error.rule}; or pass a selector"
        raise BadName(wanted="a name for Pods", value=name, rule=rule) from None


def joined(selector: Words, labels: Words | None) -> Words:
    """Return the labels of an object, validated: ``selector`` and the additional ``labels``."""
    if not labels:
        return {**selector}
    for key in selector.keys() & labels.keys():
        if labels[key] != selector[key]:
            raise BadValue(
                wanted=f"a value for the label {key}",
                value=labels[key],
                rule=f"the selector requires {selector[key]!r}; remove it from the labels, or"
                f" change the selector",
            )
    return {**selector, **checked_labels(labels)}


def checked_labels(labels: SomeWords) -> SomeWords:
    """Return ``labels``, validated."""
    if labels is None:
        return labels
    for key, value in labels.items():
        check_label_key(key)
        check_label_value(value)
    return labels


def checked_key(key: str) -> str:
    """Return ``key``, the key of a value in a ConfigMap or Secret, validated."""
    if not re.fullmatch(_DATA_KEY, key):
        raise BadName(
            wanted="a key of a ConfigMap or Secret",
            value=key,
            rule="it must consist of at most 253 letters, digits, -, _ and ., must not be ., and"
            " must not begin with ..",
        )
    return key


def checked_count(replicas: int | None) -> int | None:
    """Return ``replicas``, validated; with ``None``, another manager sets the number."""
    if replicas is not None and replicas < 0:
        raise BadValue(wanted="a number of replicas", value=replicas, rule="it must be at least 0")
    return replicas


def pod_spec(
    containers: Iterable[core_v1.Container], pod: core_v1.PodSpec | None
) -> core_v1.PodSpec:
    """Return a Pod's spec with the containers of ``pod``, followed by ``containers``."""
    listed = (*(pod.containers if pod is not None else ()), *containers)
    if not listed:
        raise BadValue(
            wanted="the containers of a Pod", value=listed, rule="there must be at least one"
        )
    names = [check_label(each.name, wanted="the name of a container") for each in listed]
    if len(set(names)) < len(names):
        raise BadValue(
            wanted="the containers of a Pod", value=names, rule="each must have a unique name"
        )
    return core_v1.PodSpec(containers=listed) if pod is None else replace(pod, containers=listed)


def pod_template(
    containers: Iterable[core_v1.Container],
    pod: core_v1.PodSpec | None,
    labels: Words,
    annotations: Words | None,
) -> core_v1.PodTemplateSpec:
    """Return a template of Pods with these containers, labels and annotations."""
    for key in annotations or ():
        check_label_key(key)
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels=labels, annotations=annotations),
        spec=pod_spec(containers, pod),
    )


def job_spec(
    template: core_v1.PodTemplateSpec,
    *,
    restart_policy: str | None,
    backoff_limit: int | None,
    keep_seconds: int | None,
) -> "batch_v1.JobSpec":
    """Return the spec of a Job; a restart policy in ``template`` takes precedence."""
    from steersman.kinds import batch_v1

    spec = template.spec
    if spec is not None and spec.restart_policy is None:
        template = replace(template, spec=replace(spec, restart_policy=restart_policy))
    return batch_v1.JobSpec(
        backoff_limit=backoff_limit, ttl_seconds_after_finished=keep_seconds, template=template
    )
