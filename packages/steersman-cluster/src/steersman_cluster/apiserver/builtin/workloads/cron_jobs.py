"""CronJobs."""

from typing import Final

from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.workloads.cron_schedules import (
    schedule_problem,
    zone_problems,
)
from steersman_cluster.apiserver.builtin.workloads.jobs import (
    default_failure_policy,
    job_warnings,
    spec_errors,
)
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    negative_errors,
    shown_selector,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_CONCURRENCY_POLICIES: Final = ("Allow", "Forbid", "Replace")
_MAX_NAME_LENGTH: Final = 52


def _default_cron_job(cron_job: Object) -> None:
    spec: Object = cron_job.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job: Object = spec.setdefault("jobTemplate", {})
    job.setdefault("metadata", {})
    job_spec: Object = job.setdefault("spec", {})
    default_failure_policy(job_spec)
    default_template(job_spec.setdefault("template", {}))


def _validate_cron_create(cron_job: Object) -> list[FieldError]:
    errors = _spec_errors(cron_job["spec"], None)
    name = cron_job["metadata"].get("name", "")
    if len(name.encode()) > _MAX_NAME_LENGTH:
        detail = f"must be no more than {_MAX_NAME_LENGTH} characters"
        errors.append(invalid("metadata.name", name, detail))
    return errors


def _validate_cron_change(cron_job: Object, old: Object) -> list[FieldError]:
    return _spec_errors(cron_job["spec"], old["spec"])


def _spec_errors(spec: Object, before: Object | None) -> list[FieldError]:
    errors = _schedule_errors(spec, before)
    errors += negative_errors(spec, ("startingDeadlineSeconds",), "spec")
    zone = spec.get("timeZone")
    if zone is not None and (before is None or before.get("timeZone") != zone):
        errors += all_invalid("spec.timeZone", zone, zone_problems(zone))
    if (policy := spec["concurrencyPolicy"]) not in _CONCURRENCY_POLICIES:
        errors.append(not_supported("spec.concurrencyPolicy", policy, _CONCURRENCY_POLICIES))
    job: Object = spec["jobTemplate"]["spec"]
    path = "spec.jobTemplate.spec"
    errors += spec_errors(job, path)
    if (selector := job.get("selector")) is not None:
        shown = shown_selector(selector)
        errors.append(invalid(f"{path}.selector", shown, "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    return errors + negative_errors(
        spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"), "spec"
    )


def _schedule_errors(spec: Object, before: Object | None) -> list[FieldError]:
    """Return the errors in the schedule of a CronJob.

    A schedule with TZ or CRON_TZ is permitted only in an update, and only if the old schedule has
    one.
    """
    schedule, path = spec.get("schedule", ""), "spec.schedule"
    if not schedule:
        return [required(path)]
    errors: list[FieldError] = []
    if problem := schedule_problem(schedule):
        errors.append(invalid(path, schedule, problem))
    if "TZ" in schedule:
        if before is None or "TZ" not in before.get("schedule", ""):
            detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            errors.append(invalid(path, schedule, detail))
        elif "timeZone" in spec:
            detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            errors.append(invalid(path, schedule, detail))
    return errors


def _cron_warnings(new: Object, old: Object | None) -> list[str]:
    warnings = job_warnings(path="spec.jobTemplate.spec")(new, old)
    if old is not None and "TZ" in new["spec"].get("schedule", ""):
        warnings.append(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see"
            " https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
            " for more details"
        )
    return warnings


CRON_JOB = Strategy(
    default=_default_cron_job,
    validate_create=_validate_cron_create,
    validate_update=_validate_cron_change,
    name_errors=subdomain_name,
    warnings=_cron_warnings,
    generation_fields=("spec",),
    has_status=True,
)
