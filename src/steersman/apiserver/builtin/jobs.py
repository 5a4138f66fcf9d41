"""Jobs and CronJobs."""

from collections.abc import Mapping
from typing import Final

from steersman.apiserver.builtin.go_forms import go_form
from steersman.apiserver.builtin.label_selectors import selector_errors, selects
from steersman.apiserver.builtin.pod_defaults import default_template
from steersman.apiserver.builtin.pod_specs import template_errors
from steersman.apiserver.builtin.workload_templates import (
    negative_errors,
    selector_change_errors,
    shown_selector,
    template_labels,
    template_warnings,
    unselected_error,
)
from steersman.apiserver.field_errors import FieldError, immutable, invalid, not_supported, required
from steersman.apiserver.names_rules import subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings, name_and_namespace

_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
_NUMBERS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_COMPLETION_MODES: Final = ("NonIndexed", "Indexed")
_REPLACEMENT_POLICIES: Final = ("Failed", "TerminatingOrFailed")
_CONCURRENCY_POLICIES: Final = ("Allow", "Forbid", "Replace")
_FIXED: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_LONGEST_CRON_NAME: Final = 52


def _default_job(job: Object) -> None:
    spec: Object = job.setdefault("spec", {})
    _default_spec(spec)
    if (labels := template_labels(spec)) and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = {**labels}
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    policy = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", policy)
    spec.setdefault("manualSelector", False)


def _default_spec(spec: Object) -> None:
    if "parallelism" not in spec:
        spec.setdefault("completions", 1)
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    default_template(spec.setdefault("template", {}))


def _prepare_job(job: Object, _: Surroundings) -> None:
    """Only its own pods carry the uid of a job, so that is what it selects."""
    spec, metadata = job["spec"], job["metadata"]
    if spec["manualSelector"]:
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    # A job that was given its template's labels is given these too.
    has_own = metadata.get("labels", {}) != labels
    for key in ("job-name", _NAME_LABEL):
        labels.setdefault(key, metadata.get("name", ""))
    for key in ("controller-uid", _UID_LABEL):
        labels.setdefault(key, metadata.get("uid", ""))
    if not has_own:
        metadata["labels"] = {**labels}
    selected = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    selected.setdefault(_UID_LABEL, metadata.get("uid", ""))


def _validate_job(job: Object) -> list[FieldError]:
    spec: Object = job["spec"]
    errors: list[FieldError] = []
    if not spec["manualSelector"] and "selector" in spec:
        errors += _generated_errors(job)
    return errors + _job_errors(spec)


def _generated_errors(job: Object) -> list[FieldError]:
    """Whether the labels and the selector are those that the server would have written."""
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
    errors = _spec_errors(spec, "spec")
    selector: Object | None = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    wrong = selector_errors(selector, "spec.selector")
    errors += wrong
    if not wrong and not selects(selector, template_labels(spec)):
        errors.append(unselected_error(spec, "spec"))
    return errors


def _spec_errors(spec: Object, path: str) -> list[FieldError]:
    errors = negative_errors(spec, _NUMBERS, path)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        detail = "when maxFailedIndexes is specified"
        errors.append(required(f"{path}.backoffLimitPerIndex", detail))
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in _COMPLETION_MODES:
        errors.append(not_supported(f"{path}.completionMode", mode, _COMPLETION_MODES))
    if mode == "Indexed" and "completions" not in spec:
        detail = "when completion mode is Indexed"
        errors.append(required(f"{path}.completions", detail))
    if mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                detail = "requires indexed completion mode"
                errors.append(invalid(f"{path}.{name}", spec[name], detail))
    policies = ("Failed",) if "podFailurePolicy" in spec else _REPLACEMENT_POLICIES
    if (policy := spec.get("podReplacementPolicy", "Failed")) not in policies:
        errors.append(not_supported(f"{path}.podReplacementPolicy", policy, policies))
    template: Object = spec["template"]
    errors += template_errors(template, f"{path}.template")
    return errors + _restart_errors(spec, f"{path}.template.spec.restartPolicy")


def _restart_errors(spec: Object, path: str) -> list[FieldError]:
    policy = spec["template"]["spec"].get("restartPolicy", "")
    if policy in ("Always", ""):
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if "podFailurePolicy" in spec and policy != "Never":
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        return [invalid(path, policy, detail)]
    return []


def _validate_job_change(new: Object, old: Object) -> list[FieldError]:
    spec, before = new["spec"], old["spec"]
    errors = _job_errors(spec)
    if spec.get("completionMode") != "Indexed":
        errors += _fixed_errors(spec, before, "completions")
    errors += selector_change_errors(new, old)
    errors += _template_change_errors(spec["template"], old)
    for name in _FIXED:
        errors += _fixed_errors(spec, before, name)
    return errors


def _template_change_errors(template: Object, old: Object) -> list[FieldError]:
    """While a job waits, it may still be settled where and with what its pods will run."""
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
    """A pod's spec without what may change while its job waits."""
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


def _fixed_errors(spec: Object, before: Object, name: str) -> list[FieldError]:
    if spec.get(name) == before.get(name):
        return []
    return [immutable(f"spec.{name}", spec.get(name))]


def _default_cron_job(cron_job: Object) -> None:
    spec: Object = cron_job.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job: Object = spec.setdefault("jobTemplate", {})
    job.setdefault("metadata", {})
    default_template(job.setdefault("spec", {}).setdefault("template", {}))


def _validate_cron_job(cron_job: Object) -> list[FieldError]:
    spec: Object = cron_job["spec"]
    schedule = spec.get("schedule", "")
    errors: list[FieldError] = []
    if not schedule:
        errors.append(required("spec.schedule"))
    elif "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid("spec.schedule", schedule, detail))
    errors += negative_errors(spec, ("startingDeadlineSeconds",), "spec")
    if (policy := spec["concurrencyPolicy"]) not in _CONCURRENCY_POLICIES:
        errors.append(not_supported("spec.concurrencyPolicy", policy, _CONCURRENCY_POLICIES))
    job: Object = spec["jobTemplate"]["spec"]
    path = "spec.jobTemplate.spec"
    errors += _spec_errors(job, path)
    if (selector := job.get("selector")) is not None:
        shown = shown_selector(selector)
        errors.append(invalid(f"{path}.selector", shown, "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    return errors + negative_errors(
        spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"), "spec"
    )


def _validate_cron_create(cron_job: Object) -> list[FieldError]:
    name = cron_job["metadata"].get("name", "")
    if len(name) <= _LONGEST_CRON_NAME:
        return []
    detail = f"must be no more than {_LONGEST_CRON_NAME} characters"
    return [invalid("metadata.name", name, detail)]


def _selectable_job(job: Object) -> Mapping[str, str]:
    return {
        **name_and_namespace(job),
        "status.successful": str(job.get("status", {}).get("succeeded", 0)),
    }


JOB = Rules(
    default=_default_job,
    prepare_create=_prepare_job,
    validate=_validate_job,
    validate_update=_validate_job_change,
    name_errors=subdomain_name,
    warnings=template_warnings(),
    selectable=_selectable_job,
    generation_of=("spec",),
    has_status=True,
    orphans=True,
    orphan_warning=(
        "child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
        " this warning"
    ),
)

CRON_JOB = Rules(
    default=_default_cron_job,
    validate=_validate_cron_job,
    validate_create=_validate_cron_create,
    name_errors=subdomain_name,
    warnings=template_warnings(path="spec.jobTemplate.spec.template"),
    generation_of=("spec",),
    has_status=True,
)
