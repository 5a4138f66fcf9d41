"""Validation of a Job's status and its changes; for example, a finished Job stays finished."""

from collections.abc import Iterator
from typing import Any, Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.workloads.job_policies import (
    index_interval,
    number_of_indexes,
)
from steersman_cluster.apiserver.meta.field_errors import (
    OMITTED,
    FieldError,
    duplicate,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object

_COUNTS: Final = rule.not_negative("active", "succeeded", "failed", "ready", "terminating")
_FOREVER: Final = ("Failed", "Complete", "FailureTarget")
_CONDITIONS: Final = "status.conditions"


class _Status:
    """The status of a Job, with the set of its true conditions."""

    def __init__(self, job: Object) -> None:
        self.fields: Object = job.get("status") or {}
        conditions = self.fields.get("conditions") or ()
        self.true = {each.get("type") for each in conditions if each.get("status") == "True"}
        self.false = {each.get("type") for each in conditions if each.get("status") == "False"}
        self.is_finished = bool(self.true & {"Complete", "Failed"})

    def count(self, name: str) -> int:
        return self.fields.get(name) or 0

    def uncounted(self) -> list[str]:
        pods: Object = self.fields.get("uncountedTerminatedPods") or {}
        return [*(pods.get("succeeded") or ()), *(pods.get("failed") or ())]


def job_status_errors(new: Object, old: Object) -> list[FieldError]:
    """Return the errors in the status of the Job ``new``, which replaces ``old``.

    Some checks ignore an error that the status of ``old`` already has.
    """
    spec: Object = new["spec"]
    status, before = _Status(new), _Status(old)
    errors = _COUNTS(status.fields, "status")
    errors += _uncounted_errors(status)
    errors += _end_errors(spec, status, before)
    errors += _index_errors(spec, status, before)
    errors += _late_errors(spec, status, before)
    return [*errors, *_step_errors(spec, status, before)]


def _uncounted_errors(status: _Status) -> Iterator[FieldError]:
    seen: set[str] = set()
    pods: Object = status.fields.get("uncountedTerminatedPods") or {}
    for kind in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(kind) or ()):
            path = f"status.uncountedTerminatedPods.{kind}[{index}]"
            if not uid:
                yield invalid(path, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(path, uid)
            seen.add(uid)


def _end_errors(spec: Object, status: _Status, before: _Status) -> Iterator[FieldError]:
    """Yield the errors in the fields and conditions of a Job that has ended."""
    now, was = status.true, before.true
    new = now ^ was
    start, end = _times(status)
    begins, ends = (
        status.fields.get(name) != before.fields.get(name)
        for name in ("startTime", "completionTime")
    )
    if {"Complete", "Failed"} <= now and new & {"Complete", "Failed"}:
        yield invalid(_CONDITIONS, OMITTED, "cannot set Complete=True and Failed=true conditions")
    if {"Complete", "FailureTarget"} <= now and new & {"Complete", "FailureTarget"}:
        detail = "cannot set Complete=True and FailureTarget=true conditions"
        yield invalid(_CONDITIONS, OMITTED, detail)
    if "Complete" in new or ends:
        if end and "Complete" not in now:
            detail = "cannot set completionTime when there is no Complete=True condition"
            yield invalid("status.completionTime", end, detail)
        if not end and "Complete" in now:
            detail = "completionTime is required for Complete jobs"
            yield required("status.completionTime", detail)
    if (begins or ends) and start and end and end < start:
        yield invalid("status.completionTime", end, "must be equal to or after `startTime`")
    fails = "Failed" in new or _changed(status, before, "failedIndexes")
    if fails and "Failed" in now and "FailureTarget" not in now:
        detail = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield invalid(_CONDITIONS, OMITTED, detail)
    if new & {"Complete", "SuccessCriteriaMet"} and _is_unmet(status):
        detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield invalid(_CONDITIONS, OMITTED, detail)
    if not status.is_finished:
        return
    is_new = status.is_finished != before.is_finished
    if status.count("active") > 0 and (is_new or _changed(status, before, "active")):
        detail = "active>0 is invalid for finished job"
        yield invalid("status.active", status.count("active"), detail)
    is_nothing = spec.get("suspend") and spec.get("completions") == 0
    if not start and (is_new or begins) and not is_nothing:
        yield required("status.startTime", "startTime is required for finished job")
    if status.uncounted() and (is_new or status.uncounted() != before.uncounted()):
        pods = status.fields["uncountedTerminatedPods"]
        shown = go_form("UncountedTerminatedPods", pods)
        yield invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job")


def _index_errors(spec: Object, status: _Status, before: _Status) -> Iterator[FieldError]:
    completions, done = spec.get("completions"), status.fields.get("completedIndexes", "")
    failed: str | None = status.fields.get("failedIndexes")
    is_done_new = _changed(status, before, "completedIndexes")
    is_failed_new = _changed(status, before, "failedIndexes")
    if is_done_new and completions is not None:
        yield from _indexes_errors("completedIndexes", done, completions)
    has_limit = "backoffLimitPerIndex" in spec
    if is_failed_new and completions is not None and has_limit and failed is not None:
        yield from _indexes_errors("failedIndexes", failed, completions)
    if is_done_new and done and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", done, detail)
    if is_failed_new and not has_limit and failed is not None:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, detail)
    if (is_failed_new or is_done_new) and completions is not None and failed:
        index = _common_index(done, failed, completions)
        if index is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {index}"
            yield invalid("status.failedIndexes", failed, detail)


def _indexes_errors(name: str, indexes: str, completions: int) -> Iterator[FieldError]:
    try:
        number_of_indexes(indexes, completions)
    except ValueError as error:
        yield invalid(f"status.{name}", indexes, f"error parsing {name}: {error}")


def _common_index(done: str, failed: str, completions: int) -> int | None:
    """Return an index that is in both ``done`` and ``failed``, or None.

    Invalid intervals are skipped, because other checks report them.
    """
    mine, theirs = ([*_intervals(each, completions)] for each in (done, failed))
    while mine and theirs:
        (first, last), (low, high) = mine[0], theirs[0]
        if first <= high and low <= last:
            return max(first, low)
        (mine if first <= low else theirs).pop(0)
    return None


def _intervals(indexes: str, completions: int) -> Iterator[tuple[int, int]]:
    for text in indexes.split(","):
        try:
            yield index_interval(text, completions)
        except ValueError:
            continue


def _late_errors(spec: Object, status: _Status, before: _Status) -> Iterator[FieldError]:
    is_new = status.is_finished != before.is_finished
    terminating, ready = status.count("terminating"), status.fields.get("ready")
    is_late = is_new or _changed(status, before, "terminating")
    if terminating > 0 and status.is_finished and is_late:
        detail = "terminating>0 is invalid for finished job"
        yield invalid("status.terminating", terminating, detail)
    is_counted = _changed(status, before, "ready") or _changed(status, before, "active")
    if ready is not None and ready > status.count("active") and is_counted:
        yield invalid("status.ready", ready, "cannot set more ready pods than active")
    for name in ("Failed", "FailureTarget"):
        if {"SuccessCriteriaMet", name} <= status.true:
            detail = f"cannot set SuccessCriteriaMet=True and {name}=true conditions"
            yield invalid(_CONDITIONS, OMITTED, detail)
    if "successPolicy" in spec and _is_unmet(status):
        detail = (
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        )
        yield invalid(_CONDITIONS, OMITTED, detail)


def _step_errors(spec: Object, status: _Status, before: _Status) -> Iterator[FieldError]:
    """Yield the errors for changes that reverse the progress of a Job."""
    for name in _FOREVER:
        if name in before.true and name not in status.true:
            detail = f"cannot disable the terminal {name}=True condition"
            yield invalid(_CONDITIONS, OMITTED, detail)
    if status.count("failed") < before.count("failed"):
        detail = "cannot decrease the failed counter"
        yield invalid("status.failed", status.count("failed"), detail)
    is_elastic = spec.get("completionMode") == "Indexed"
    is_elastic &= spec.get("completions") == spec.get("parallelism")
    if status.count("succeeded") < before.count("succeeded") and not is_elastic:
        detail = "cannot decrease the succeeded counter"
        yield invalid("status.succeeded", status.count("succeeded"), detail)
    (start, end), (started, ended) = _times(status), _times(before)
    if end and ended and end != ended:
        yield invalid("status.completionTime", end, "field is immutable")
    is_resuming = "Suspended" in before.true and "Suspended" in status.false
    if started and start != started and not spec.get("suspend") and not is_resuming:
        detail = "field is immutable for unsuspended job once set"
        yield invalid("status.startTime", start, detail)
    is_met, was_met = ("SuccessCriteriaMet" in each.true for each in (status, before))
    if was_met and not is_met:
        detail = "cannot disable the SuccessCriteriaMet=True condition"
        yield invalid(_CONDITIONS, OMITTED, detail)
    if "Complete" in before.true and is_met and not was_met:
        detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield invalid(_CONDITIONS, OMITTED, detail)


def _is_unmet(status: _Status) -> bool:
    return "Complete" in status.true and "SuccessCriteriaMet" not in status.true


def _times(status: _Status) -> tuple[Any, Any]:
    # Canonical timestamps are in UTC and have the same length, so that they sort as strings.
    return status.fields.get("startTime"), status.fields.get("completionTime")


def _changed(status: _Status, before: _Status, name: str) -> bool:
    return bool(status.fields.get(name) != before.fields.get(name))
