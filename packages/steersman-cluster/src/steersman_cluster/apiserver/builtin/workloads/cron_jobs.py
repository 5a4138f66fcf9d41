"""CronJobs."""

from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin import rule
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
from steersman_cluster.apiserver.builtin.workloads.workload_templates import shown_selector
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_MAX_NAME_LENGTH: Final = 52


def _default_cron_job(cron_job: Object) -> None:
    spec: Object = cron_job.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job: Object = spec.setdefault("jobTemplate", {})
    job_spec: Object = job.setdefault("spec", {})
    default_failure_policy(job_spec)
    default_template(job_spec.setdefault("template", {}))


def _create_errors(cron_job: Object) -> list[FieldError]:
    return _CRON_JOB(cron_job, "", None) + _NAME(cron_job)


def _change_errors(cron_job: Object, old: Object) -> list[FieldError]:
    return _CRON_JOB(cron_job, "", old["spec"])


def _schedule_errors(spec: Object, path: str, before: Object | None) -> Iterator[FieldError]:
    """Yield the errors in the schedule of a CronJob.

    A schedule with TZ or CRON_TZ is permitted only in an update, and only if the old schedule has
    one.
    """
    schedule, path = spec["schedule"], f"{path}.schedule"
    if problem := schedule_problem(schedule):
        yield invalid(path, schedule, problem)
    if "TZ" in schedule:
        if before is None or "TZ" not in before.get("schedule", ""):
            detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            yield invalid(path, schedule, detail)
        elif "timeZone" in spec:
            detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            yield invalid(path, schedule, detail)


def _zone_errors(zone: str, path: str, before: Object | None) -> list[FieldError]:
    is_unchanged = before is not None and before.get("timeZone") == zone
    return [] if is_unchanged else all_invalid(path, zone, zone_problems(zone))


def _selector_errors(selector: Object, path: str) -> Iterator[FieldError]:
    yield invalid(path, shown_selector(selector), "`selector` will be auto-generated")


def _manual_errors(_: bool, path: str) -> Iterator[FieldError]:
    yield not_supported(path, True, ("nil", "false"))


# The scope is the old spec, or None.
_CRON_JOB: Final = rule.given(
    "spec",
    rule.first(rule.required("schedule"), rule.scoped(_schedule_errors)),
    rule.not_negative("startingDeadlineSeconds"),
    rule.given("timeZone", rule.scoped(_zone_errors)),
    rule.given("concurrencyPolicy", rule.enum("Allow", "Forbid", "Replace")),
    rule.given(
        "jobTemplate.spec",
        rule.code(spec_errors),
        rule.given("selector", rule.code(_selector_errors)),
        rule.optional("manualSelector", rule.code(_manual_errors)),
    ),
    rule.not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
)
_NAME: Final = rule.given(
    "metadata.name",
    rule.must(
        lambda name: len(name.encode()) <= _MAX_NAME_LENGTH,
        f"must be no more than {_MAX_NAME_LENGTH} characters",
    ),
)


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
    validate_create=_create_errors,
    validate_update=_change_errors,
    name_errors=subdomain_name,
    warnings=_cron_warnings,
    generation_fields=("spec",),
    has_status=True,
)
