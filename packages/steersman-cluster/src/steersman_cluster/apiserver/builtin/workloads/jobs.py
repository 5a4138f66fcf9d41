"""Jobs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_rules import at
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import selector_errors, selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.pods.pod_specs import template_errors
from steersman_cluster.apiserver.builtin.workloads.job_policies import (
    FAILURE_POLICY,
    SUCCESS_POLICY,
)
from steersman_cluster.apiserver.builtin.workloads.job_status import job_status_errors
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    selector_change_errors,
    shown_selector,
    template_labels,
    template_warnings,
    unselected_error,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    immutable,
    invalid,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    http_path,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import (
    Object,
    Strategy,
    StrategyContext,
    name_and_namespace,
)

_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
# Immutable fields, with the Go type that the error message shows if the value is a struct.
_FIXED: Final = {
    "completionMode": "",
    "podFailurePolicy": "PodFailurePolicy",
    "backoffLimitPerIndex": "",
    "managedBy": "",
    "successPolicy": "SuccessPolicy",
}
# The limits of parallelism and maxFailedIndexes in an Indexed Job. The lower limit applies with
# backoffLimitPerIndex and more than 100,000 completions.
_MANY: Final = 100_000
_MANY_WITH_LIMITS: Final = 10_000
_MAX_MANAGER_LENGTH: Final = 63


def _default_job(job: Object) -> None:
    spec: Object = job.setdefault("spec", {})
    _default_spec(spec)
    if (labels := template_labels(spec)) and not job["metadata"].get("labels"):
        # The identity of the map tells _prepare_job that the labels are defaults. With generateName
        # it is a copy, because kube-apiserver copies the object for each name that it tries.
        needs_name = job["metadata"].get("generateName") and not job["metadata"].get("name")
        job["metadata"]["labels"] = {**labels} if needs_name else labels
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    policy = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", policy)
    spec.setdefault("manualSelector", False)


def _default_spec(spec: Object) -> None:
    default_failure_policy(spec)
    if "parallelism" not in spec:
        spec.setdefault("completions", 1)
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    default_template(spec.setdefault("template", {}))


def default_failure_policy(spec: Object) -> None:
    """Set the default ``True`` of ``status`` in the ``onPodConditions`` of a failure policy."""
    for each in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in each.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def _prepare_job(job: Object, _: StrategyContext) -> None:
    """Generate the labels and the selector of a Job.

    The labels and the selector contain the Job's uid, so the selector selects only Pods of this
    Job.
    """
    spec, metadata = job["spec"], job["metadata"]
    if spec["manualSelector"]:
        return
    about = spec["template"]["metadata"]
    labels = about.setdefault("labels", {})
    has_own = metadata.get("labels") and metadata["labels"] is not labels
    for key in ("job-name", _NAME_LABEL):
        labels.setdefault(key, metadata.get("name", ""))
    for key in ("controller-uid", _UID_LABEL):
        labels.setdefault(key, metadata.get("uid", ""))
    about["labels"] = dict(sorted(labels.items()))
    if not has_own:
        metadata["labels"] = {**labels}
    selected = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    selected.setdefault(_UID_LABEL, metadata.get("uid", ""))


def _validate_job(job: Object) -> list[FieldError]:
    spec: Object = job["spec"]
    errors: list[FieldError] = []
    if not spec["manualSelector"] and "selector" in spec:
        errors += _generated_errors(job)
    return errors + _job_errors(spec) + _hostname_errors(job)


def _hostname_errors(job: Object) -> list[FieldError]:
    """Return the error for an Indexed Job whose last Pod would have an invalid hostname."""
    spec, name = job["spec"], job["metadata"].get("name", "")
    completions = spec.get("completions") or 0
    if spec.get("completionMode") != "Indexed" or completions <= 0:
        return []
    hostname = f"{name}-{completions - 1}"
    if not dns_label(hostname):
        return []
    detail = f"will not able to create pod with invalid DNS label: {hostname}"
    return [invalid("metadata.name", name, detail)]


def _generated_errors(job: Object) -> list[FieldError]:
    """Return the errors if labels or selector differ from those that the server generates."""
    uid, name = job["metadata"].get("uid", ""), job["metadata"].get("name", "")
    labels = template_labels(job["spec"])
    expected = {
        "controller-uid": uid,
        "job-name": name,
        _UID_LABEL: uid,
        _NAME_LABEL: name,
    }
    path = "spec.template.metadata.labels"
    errors: list[FieldError] = []
    for key, value in expected.items():
        if key not in labels:
            errors.append(required(f"{path}[{key}]", f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(f"{path}[{key}]", dict(labels), f"must be '{value}'"))
    selector: Object = job["spec"]["selector"]
    if not selector_errors(selector, "") and not selects(selector, expected):
        shown = shown_selector(selector)
        errors.append(invalid("spec.selector", shown, "`selector` not auto-generated"))
    return errors


def _job_errors(spec: Object) -> list[FieldError]:
    errors = spec_errors(spec, "spec")
    selector: Object | None = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    wrong = selector_errors(selector, "spec.selector")
    errors += wrong
    if not wrong and not selects(selector, template_labels(spec)):
        errors.append(unselected_error(spec, "spec"))
    return errors


def spec_errors(spec: Object, path: str) -> list[FieldError]:
    """Return the errors in the spec of a Job, except for its selector."""
    return _SPEC(spec, path, spec)


def _manager_errors(manager: str, path: str) -> Iterator[FieldError]:
    host, _, rest = manager.partition("/")
    if not manager:
        yield required(path)
    elif not host or not rest:
        yield invalid(path, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from all_invalid(path, host, dns_subdomain(host))
        yield from all_invalid(path, rest, http_path(rest))
    if len(manager.encode()) > _MAX_MANAGER_LENGTH:
        yield too_long(path, "", _MAX_MANAGER_LENGTH)


def _indexed_errors(spec: Object, path: str) -> Iterator[FieldError]:
    """Yield the errors in an Indexed Job's numbers of completions and failures."""
    parallelism, failed = spec.get("parallelism") or 0, spec.get("maxFailedIndexes")
    completions: int | None = spec.get("completions")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > _MANY:
        detail = f"must be less than or equal to {_MANY} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", parallelism, detail)
    if completions is not None and failed is not None and failed > completions:
        detail = "must be less than or equal to completions"
        yield invalid(f"{path}.maxFailedIndexes", failed, detail)
    if failed is not None and failed > _MANY:
        yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MANY}")
    if (completions or 0) <= _MANY or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        detail = f"must be specified when completions is above {_MANY}"
        yield required(f"{path}.maxFailedIndexes", detail)
    detail = (
        f"must be less than or equal to {_MANY_WITH_LIMITS} when completions are above {_MANY}"
        " and used with backoff limit per index"
    )
    if parallelism > _MANY_WITH_LIMITS:
        yield invalid(f"{path}.parallelism", parallelism, detail)
    if failed is not None and failed > _MANY_WITH_LIMITS:
        yield invalid(f"{path}.maxFailedIndexes", failed, detail)


def _success_errors(policy: Object, path: str, spec: Object) -> list[FieldError]:
    if spec.get("completionMode") != "Indexed":
        shown = go_form("SuccessPolicy", policy)
        return [invalid(path, shown, "requires indexed completion mode")]
    return SUCCESS_POLICY(policy, path, spec.get("completions", 0))


def _never_errors(policy: str, path: str, spec: Object) -> Iterator[FieldError]:
    if "podFailurePolicy" in spec and policy != "Never":
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid(path, policy, detail)


def _restart_errors(template: Object, path: str, spec: Object) -> list[FieldError]:
    policy, path = template["spec"].get("restartPolicy", ""), f"{path}.spec.restartPolicy"
    if policy in ("Always", ""):
        return [required(path, 'valid values: "OnFailure", "Never"')]
    return _RESTART(policy, path, spec)


_NEEDS_INDEXES: Final = rule.must_be_absent("requires indexed completion mode")
_RESTART: Final = rule.first(rule.enum("OnFailure", "Never"), rule.scoped(_never_errors))
# The scope is the spec.
_SPEC: Final = rule.table(
    rule.not_negative(
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ),
    rule.when(
        lambda spec: "maxFailedIndexes" in spec,
        rule.needed("backoffLimitPerIndex", detail="when maxFailedIndexes is specified"),
    ),
    rule.given("managedBy", rule.code(_manager_errors)),
    rule.given("completionMode", rule.enum("NonIndexed", "Indexed")),
    rule.when(lambda spec: spec.get("completionMode") == "Indexed", rule.code(_indexed_errors)),
    rule.when(
        lambda spec: spec.get("completionMode", "NonIndexed") == "NonIndexed",
        rule.given("backoffLimitPerIndex", _NEEDS_INDEXES),
        rule.given("maxFailedIndexes", _NEEDS_INDEXES),
    ),
    rule.given("podFailurePolicy", FAILURE_POLICY),
    rule.given("successPolicy", rule.scoped(_success_errors)),
    rule.when(
        lambda spec: "podFailurePolicy" in spec,
        rule.given("podReplacementPolicy", rule.enum("Failed")),
        otherwise=[rule.given("podReplacementPolicy", rule.enum("Failed", "TerminatingOrFailed"))],
    ),
    rule.given("template", rule.code(template_errors), rule.scoped(_restart_errors)),
)


def _validate_job_change(new: Object, old: Object) -> list[FieldError]:
    spec, before = new["spec"], old["spec"]
    errors = _job_errors(spec)
    errors += _completions_errors(spec, before)
    errors += selector_change_errors(new, old)
    errors += _template_change_errors(spec["template"], old)
    for name, type_name in _FIXED.items():
        errors += _fixed_errors(spec, before, name, type_name)
    return errors


def _completions_errors(spec: Object, before: Object) -> list[FieldError]:
    """Return the error for a change of ``completions``.

    In an Indexed Job, a change of ``completions`` to the value of ``parallelism`` is permitted.
    """
    completions = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        return _fixed_errors(spec, before, "completions", "")
    if completions in (None, before.get("completions"), spec.get("parallelism")):
        return []
    detail = "can only be modified in tandem with spec.parallelism"
    return [invalid("spec.completions", completions, detail)]


def _template_change_errors(template: Object, old: Object) -> list[FieldError]:
    """Return the error for a change of the template.

    The scheduling settings and resources may change while the Job is suspended.
    """
    before: Object = old["spec"]["template"]
    status: Object = old.get("status") or {}
    is_paused = "startTime" not in status or any(
        each.get("type") == "Suspended" and each.get("status") == "True"
        for each in status.get("conditions") or ()
    )
    if not old["spec"].get("suspend") or not is_paused or status.get("active"):
        if template == before:
            return []
        shown = go_form("PodTemplateSpec", template)
        return [immutable("spec.template", shown)]
    if _settled(template["spec"]) == _settled(before["spec"]):
        return []
    return [immutable("spec.template.spec", go_form("PodSpec", template["spec"]))]


def _settled(pod_spec: Object) -> Object:
    """Return a Pod spec without the fields that may change while the Job is suspended."""
    settled = {
        name: value
        for name, value in pod_spec.items()
        if name not in ("nodeSelector", "tolerations", "schedulingGates", "affinity")
    }
    affinity: Object = pod_spec.get("affinity") or {}
    settled["affinity"] = {key: affinity[key] for key in affinity if key != "nodeAffinity"}
    for kind in ("containers", "initContainers"):
        settled[kind] = [{**each, "resources": {}} for each in pod_spec.get(kind) or ()]
    return settled


def _fixed_errors(spec: Object, before: Object, name: str, type_name: str) -> list[FieldError]:
    value = spec.get(name)
    if value == before.get(name):
        return []
    shown = go_form(type_name, value) if type_name and value is not None else value
    return [immutable(f"spec.{name}", shown)]


def job_warnings(*, path: str = "spec") -> Callable[[Object, Object | None], list[str]]:
    """Return a ``warnings`` function for Jobs, or for a kind with a Job template at ``path``."""
    of_template = template_warnings(path=f"{path}.template")

    def warnings(new: Object, old: Object | None) -> list[str]:
        found = of_template(new, old)
        spec = at(new, path) or {}
        is_new = old is None or new["spec"] != old["spec"]
        if is_new and spec.get("completionMode") == "Indexed" and _is_too_much(spec):
            found.insert(
                0,
                f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a"
                " parallelism higher than 10^4, Kubernetes might not be able to track"
                " completedIndexes when a big number of indexes fail",
            )
        return found

    return warnings


def _is_too_much(spec: Object) -> bool:
    parallelism, completions = spec.get("parallelism") or 0, spec.get("completions") or 0
    return bool(completions > _MANY and parallelism > _MANY_WITH_LIMITS)


def _selectable_job(job: Object) -> Mapping[str, str]:
    return {
        **name_and_namespace(job),
        "status.successful": str(job.get("status", {}).get("succeeded", 0)),
    }


JOB = Strategy(
    default=_default_job,
    prepare_create=_prepare_job,
    validate=_validate_job,
    validate_update=_validate_job_change,
    validate_status=job_status_errors,
    name_errors=subdomain_name,
    warnings=job_warnings(),
    selectable=_selectable_job,
    generation_fields=("spec",),
    has_status=True,
    orphan_by_default=True,
    orphan_warning=(
        "child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
        " this warning"
    ),
)
