"""Jobs and CronJobs that violate one rule each: at creation, in updates, or in the status."""

from typing import Any, Final

from tests.recorded.builtin_rules.cases import Case, Object
from tests.recorded.builtin_rules.pod_cases import CONTAINER, with_changes
from tests.recorded.builtin_rules.workload_cases import CRON_JOB, JOB

INDEXED: Final = with_changes(
    JOB,
    {"completionMode": "Indexed", "completions": 3, "parallelism": 2, "backoffLimitPerIndex": 1},
)
BEGUN: Final = "2026-01-02T03:04:05Z"
ENDED: Final = "2026-01-02T03:04:06Z"


def codes(**fields: Any) -> Object:
    said = {"operator": "In", "values": [1], **fields}
    return {"podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": said}]}}


def conditions(**fields: Any) -> Object:
    return {"podFailurePolicy": {"rules": [{"action": "Count", "onPodConditions": [fields]}]}}


def success(**rule: Any) -> Object:
    return {"successPolicy": {"rules": [rule]}}


def true(*kinds: str) -> list[Object]:
    return [{"type": kind, "status": "True"} for kind in kinds]


OF_JOBS: Final[dict[str, Object]] = {
    "managed by an empty name": {"managedBy": ""},
    "managed by a word": {"managedBy": "other"},
    "managed by an odd domain": {"managedBy": "A b/c"},
    "managed by an odd path": {"managedBy": "a.b/c d"},
    "managed by a long name": {"managedBy": f"a.b/{'c' * 64}"},
    "no rules of failure": {"podFailurePolicy": {"rules": []}},
    "too many rules of failure": {"podFailurePolicy": {"rules": [{}] * 21}},
    "an unknown action": {"podFailurePolicy": {"rules": [{"action": "Hope"}]}},
    "an index fails of none": {"podFailurePolicy": {"rules": [{"action": "FailIndex"}]}},
    "no exit codes": codes(values=None),
    "success for a failure": codes(values=[0, 1]),
    "an exit code twice": codes(values=[1, 1]),
    "exit codes in no order": codes(values=[2, 1]),
    "exit codes in an unknown way": codes(operator="Near"),
    "exit codes in no way": codes(operator=""),
    "exit codes of no container": codes(containerName="missing"),
    "a condition": conditions(type="DisruptionTarget"),
    "an odd condition": conditions(type="a b", status="Hope"),
    "success without indexes": success(succeededCount=1),
    "failures that are replaced before they are known": {
        **codes(),
        "podReplacementPolicy": "TerminatingOrFailed",
    },
    "failures of pods that start again": {
        **codes(),
        "template": {"spec": {"containers": [CONTAINER], "restartPolicy": "OnFailure"}},
    },
}
OF_INDEXED: Final[dict[str, Object]] = {
    "success": success(succeededIndexes="0,1-2", succeededCount=2),
    "success of nothing": success(),
    "no success": {"successPolicy": {"rules": []}},
    "success of more than all": success(succeededCount=4),
    "success of more than those": success(succeededIndexes="0", succeededCount=2),
    "success of less than none": success(succeededCount=-1),
    "success of too large an index": success(succeededIndexes="3"),
    "success of indexes backwards": success(succeededIndexes="2-1"),
    "success of an index twice": success(succeededIndexes="1,1"),
    "success of a word": success(succeededIndexes="a"),
    "success of three ends": success(succeededIndexes="0-1-2"),
    "more failures than indexes": {"maxFailedIndexes": 4},
    "more at once than can be listed": {"parallelism": 100_001},
    "more than can be listed": {"completions": 100_001, "parallelism": 10_001},
    "a warning of many": {
        "completions": 100_001,
        "parallelism": 10_001,
        "backoffLimitPerIndex": None,
    },
    "a name that leaves no room for an index": {"/metadata.name": "a" * 62},
}
SCHEDULES: Final = (
    "@hourly",
    "@every 1h",
    "@every 1",
    "@never",
    "* * * *",
    "60 * * * *",
    "5-1 * * * *",
    "*/0 * * * *",
    "* * * * 7",
    "x * * * *",
    "* * 1,15 jan-jun mon",
    "TZ=Nowhere 0 0 * * *",
    "TZ=UTC",
)
ZONES: Final = ("Europe/Berlin", "Nowhere", "local", "Local", "", "../x", "Etc/GMT+5")

CHANGES: Final[dict[str, tuple[Object, Object]]] = {
    "grown": (INDEXED, {"spec": {"completions": 4, "parallelism": 4}}),
    "grown alone": (INDEXED, {"spec": {"completions": 4}}),
    "managed by another": (JOB, {"spec": {"managedBy": "a.b/c"}}),
    "with a rule of failure": (JOB, {"spec": codes()}),
    "with a rule of success": (INDEXED, {"spec": success(succeededCount=1)}),
    "without a limit": (INDEXED, {"spec": {"backoffLimitPerIndex": None}}),
    "at another time": (CRON_JOB, {"spec": {"schedule": "@hourly"}}),
    "at no time": (CRON_JOB, {"spec": {"schedule": "0 0 * * 8"}}),
    "elsewhere": (CRON_JOB, {"spec": {"timeZone": "Nowhere"}}),
}
COMPLETE: Final = {
    "startTime": BEGUN,
    "completionTime": ENDED,
    "conditions": true("SuccessCriteriaMet", "Complete"),
}
STATUSES: Final[dict[str, tuple[Object, Object]]] = {
    "complete": (JOB, COMPLETE),
    "complete without a time": (JOB, {**COMPLETE, "completionTime": None}),
    "complete without a beginning": (JOB, {**COMPLETE, "startTime": None}),
    "complete before it began": (JOB, {**COMPLETE, "startTime": "2026-01-02T03:04:07Z"}),
    "complete without having met anything": (JOB, {**COMPLETE, "conditions": true("Complete")}),
    "complete and active": (JOB, {**COMPLETE, "active": 1, "terminating": 1, "ready": 2}),
    "complete and uncounted": (JOB, {**COMPLETE, "uncountedTerminatedPods": {"failed": ["a"]}}),
    "a time without an end": (JOB, {"completionTime": ENDED}),
    "failed": (JOB, {"startTime": BEGUN, "conditions": true("FailureTarget", "Failed")}),
    "failed without a reason": (JOB, {"startTime": BEGUN, "conditions": true("Failed")}),
    "failed and complete": (
        JOB,
        {
            **COMPLETE,
            "conditions": true("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"),
        },
    ),
    "indexes of a job without any": (JOB, {"completedIndexes": "0", "failedIndexes": "0"}),
    "indexes": (INDEXED, {"completedIndexes": "0", "failedIndexes": "1-2"}),
    "indexes that are both": (INDEXED, {"completedIndexes": "0-1", "failedIndexes": "1"}),
    "indexes that are none": (INDEXED, {"completedIndexes": "x", "failedIndexes": "9"}),
    "uncounted twice": (
        JOB,
        {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": ["a"]}},
    ),
    "less than none": (JOB, {"active": -1, "failed": -1, "succeeded": -1}),
}


def job_cases() -> list[Case]:
    """Jobs and CronJobs to create."""
    cases = [_case(says, JOB, changes) for says, changes in OF_JOBS.items()]
    cases += [_case(f"indexed: {says}", INDEXED, each) for says, each in OF_INDEXED.items()]
    cases += [_case(f"at {each!r}", CRON_JOB, {"schedule": each}) for each in SCHEDULES]
    return cases + [_case(f"in {each!r}", CRON_JOB, {"timeZone": each}) for each in ZONES]


def job_change_cases() -> list[Case]:
    """Changes of existing Jobs and CronJobs, and of their status."""
    cases = [_change(says, *change) for says, change in CHANGES.items()]
    return cases + [
        _change(f"{says}, in the status", body, {"status": status}, "status")
        for says, (body, status) in STATUSES.items()
    ]


def _case(says: str, base: Object, changes: Object) -> Case:
    body = with_changes(base, {key: each for key, each in changes.items() if each is not None})
    for key, each in changes.items():
        if each is None:
            del body["spec"][key]
    plural = f"{base['kind'].lower()}s"
    return Case(says=says, plural=plural, api_version=base["apiVersion"], body=body)


def _change(says: str, body: Object, change: Object, subresource: str = "") -> Case:
    return Case(
        says=says,
        plural=f"{body['kind'].lower()}s",
        api_version=body["apiVersion"],
        body=body,
        change=change,
        subresource=subresource,
    )
