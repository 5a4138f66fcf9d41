"""Workloads to create, with one change each, and changes of existing ones."""

from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object
from tests.recorded.builtin_rules.pod_cases import (
    CONTAINER,
    GONE,
    LABELLED,
    expression,
    with_changes,
)

LONG = "a" * 64
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io"
TEMPLATE: Object = {
    "metadata": {"labels": {"app": "one"}},
    "spec": {"containers": [CONTAINER]},
}
ENDING: Object = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
CLAIM: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
PROBED: Object = {
    **TEMPLATE,
    "spec": {
        "serviceAccountName": "me",
        "hostNetwork": True,
        "containers": [
            {
                **CONTAINER,
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 80}},
                "resources": {"limits": {"cpu": "0.1"}},
            }
        ],
    },
}


def workload(api_version: str, kind: str, **spec: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "one"}, "spec": spec}


def template(**changes: Any) -> dict[str, Any]:
    """A Pod template whose spec has these fields, too."""
    return {"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], **changes}}}


def rolling(unavailable: Any, surge: Any) -> dict[str, Any]:
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge},
    }


DEPLOYMENT = workload("apps/v1", "Deployment", selector=LABELLED, template=TEMPLATE)
REPLICA_SET = workload("apps/v1", "ReplicaSet", selector=LABELLED, template=TEMPLATE)
DAEMON_SET = workload("apps/v1", "DaemonSet", selector=LABELLED, template=TEMPLATE)
STATEFUL_SET = workload(
    "apps/v1", "StatefulSet", selector=LABELLED, template=TEMPLATE, serviceName="one"
)
JOB = workload("batch/v1", "Job", template=ENDING)
CRON_JOB = workload(
    "batch/v1", "CronJob", schedule="@daily", jobTemplate={"spec": {"template": ENDING}}
)
CONTROLLER = workload("v1", "ReplicationController", template=TEMPLATE)
POD_TEMPLATE: Object = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": {"name": "one"},
    "template": TEMPLATE,
}

# Cases for every kind with a selector and a template.
SELECTING: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no spec": {"/spec": GONE},
    "no selector": {"selector": GONE},
    "an empty selector": {"selector": {}},
    "a selector of others": {"selector": {"matchLabels": {"app": "two", "a": "b"}}},
    "a selector by expressions": {"selector": {**LABELLED, **expression("app", "In", "one")}},
    "a selector of a bad key": {"selector": {**expression("a b", "Exists"), **LABELLED}},
    "a selector of a bad value": {"selector": {"matchLabels": {"app": "a b"}}},
    "an invalid selector": {"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
    "a template without labels": {"template": {"spec": TEMPLATE["spec"]}},
    "a template of nothing": {"template": GONE},
    "a template's bad label": {
        "template": {**TEMPLATE, "metadata": {"labels": {"app": "one", "b": "c d"}}}
    },
    "a template's bad annotation": {
        "template": {**TEMPLATE, "metadata": {"labels": {"app": "one"}, "annotations": {"a b": ""}}}
    },
    "a template with annotations of AppArmor": {
        "template": {
            "metadata": {
                "labels": {"app": "one"},
                "annotations": {f"{APP_ARMOR}/{CONTAINER['name']}": "odd"},
            },
            "spec": {
                "containers": [
                    {**CONTAINER, "securityContext": {"appArmorProfile": {"type": "Unconfined"}}}
                ]
            },
        }
    },
    "a template of pods that end": template(restartPolicy="Never"),
    "a template of pods with a deadline": template(activeDeadlineSeconds=1),
    "a template with ephemeral containers": template(
        ephemeralContainers=[{"name": "e", "image": "i"}]
    ),
    "a template without containers": template(containers=[]),
    "a template with much in it": {"template": PROBED},
    "a template with less than no grace": template(terminationGracePeriodSeconds=-1),
    "a name with a dot": {"/metadata.name": "a.b"},
    "less than no time": {"minReadySeconds": -1},
}
HISTORICAL: dict[str, dict[str, Any]] = {"no history": {"revisionHistoryLimit": -1}}
REPLICATED: dict[str, dict[str, Any]] = {
    "no replicas": {"replicas": 0},
    "less than no replicas": {"replicas": -1},
}
OF_DEPLOYMENTS: dict[str, dict[str, Any]] = {
    "recreated": {"strategy": {"type": "Recreate"}},
    "recreated while rolling": {"strategy": {**rolling(1, 1), "type": "Recreate"}},
    "an unknown strategy": {"strategy": {"type": "Hope"}},
    "numbers": {"strategy": rolling(1, 0)},
    "only one number": {"strategy": {"rollingUpdate": {"maxSurge": 2}}},
    "neither more nor less": {"strategy": rolling(0, "0%")},
    "more than all": {"strategy": rolling("101%", "200%")},
    "less than none": {"strategy": rolling(-1, -1)},
    "no percentages": {"strategy": rolling("x", "5")},
    "a deadline that is too short": {"minReadySeconds": 5, "progressDeadlineSeconds": 5},
    "a deadline below zero": {"progressDeadlineSeconds": -1},
    "paused": {"paused": True},
}
OF_DAEMON_SETS: dict[str, dict[str, Any]] = {
    "on delete": {"updateStrategy": {"type": "OnDelete"}},
    "an unknown strategy": {"updateStrategy": {"type": "Hope"}},
    "more and less": {"updateStrategy": rolling(1, 1)},
    "neither more nor less": {"updateStrategy": rolling(0, 0)},
    "more than all": {"updateStrategy": rolling("101%", "200%")},
}
OF_STATEFUL_SETS: dict[str, dict[str, Any]] = {
    "on delete": {"updateStrategy": {"type": "OnDelete"}},
    "on delete while rolling": {
        "updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}
    },
    "an unknown strategy": {"updateStrategy": {"type": "Hope"}},
    "a partition below zero": {"updateStrategy": {"rollingUpdate": {"partition": -1}}},
    "an unknown management": {"podManagementPolicy": "Hope"},
    "an unknown selection of pods that end": {
        "selector": {"matchExpressions": [{"key": "app", "operator": "Hope"}]},
        "template": ENDING,
    },
    "an unknown retention": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Hope"}},
    "claims": {
        "volumeClaimTemplates": [CLAIM],
        **template(
            containers=[{**CONTAINER, "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]
        ),
    },
    "claims of nothing": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
    "a service's bad name": {"serviceName": "A"},
    "no service": {"serviceName": GONE},
    "a start": {"ordinals": {"start": 3}},
    "a start below zero": {"ordinals": {"start": -3}},
    "a name that is too long": {"/metadata.name": LONG},
}
OF_JOBS: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no spec": {"/spec": GONE},
    "pods that never end": {"template": TEMPLATE},
    "pods of an unknown policy": template(restartPolicy="Hope"),
    "numbers": {"parallelism": 2, "completions": 3, "ttlSecondsAfterFinished": 0},
    "numbers below zero": {"parallelism": -1, "completions": -1, "backoffLimit": -1},
    "only parallel": {"parallelism": 2},
    "labels": {"template": {**ENDING, "metadata": {"labels": {"a": "b"}}}},
    "indexed": {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 1},
    "indexed without a count": {"completionMode": "Indexed", "parallelism": 1},
    "an unknown mode": {"completionMode": "Hope"},
    "limits for each index of none": {"backoffLimitPerIndex": 1, "maxFailedIndexes": 1},
    "an unknown replacement": {"podReplacementPolicy": "Hope"},
    "a selector of others": {"selector": {"matchLabels": {"a": "b"}}},
    "a selector by hand": {
        "manualSelector": True,
        "selector": LABELLED,
        "template": {**ENDING, "metadata": {"labels": {"app": "one"}}},
    },
    "no selector by hand": {"manualSelector": True},
    "suspended": {"suspend": True},
}
OF_CRON_JOBS: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no schedule": {"schedule": GONE},
    "a schedule with a time zone": {"schedule": "TZ=UTC @daily"},
    "an unknown policy": {"concurrencyPolicy": "Hope"},
    "limits below zero": {
        "successfulJobsHistoryLimit": -1,
        "failedJobsHistoryLimit": -1,
        "startingDeadlineSeconds": -1,
    },
    "pods that never end": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
    "a selector": {"jobTemplate": {"spec": {"template": ENDING, "selector": LABELLED}}},
    "a selector by hand": {"jobTemplate": {"spec": {"template": ENDING, "manualSelector": True}}},
    "a name that is too long": {"/metadata.name": "a" * 53},
    "suspended": {"suspend": True, "timeZone": "Etc/UTC"},
}
OF_CONTROLLERS: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no template": {"template": GONE},
    "a selector": {"selector": {"app": "one"}},
    "a selector of others": {"selector": {"app": "two"}},
    "pods that end": template(restartPolicy="Never"),
    "pods with a deadline": template(activeDeadlineSeconds=1),
    "no labels": {"template": {"spec": TEMPLATE["spec"]}},
}
OF_POD_TEMPLATES: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no containers": {"/template": {"spec": {"containers": []}}},
    "nothing": {"/template": GONE},
}

_TABLES = (
    ("deployments", DEPLOYMENT, SELECTING | HISTORICAL | REPLICATED | OF_DEPLOYMENTS),
    ("replicasets", REPLICA_SET, SELECTING | REPLICATED),
    ("daemonsets", DAEMON_SET, SELECTING | HISTORICAL | OF_DAEMON_SETS),
    ("statefulsets", STATEFUL_SET, SELECTING | HISTORICAL | REPLICATED | OF_STATEFUL_SETS),
    ("jobs", JOB, OF_JOBS),
    ("cronjobs", CRON_JOB, OF_CRON_JOBS),
    ("replicationcontrollers", CONTROLLER, REPLICATED | OF_CONTROLLERS),
    ("podtemplates", POD_TEMPLATE, OF_POD_TEMPLATES),
)


def workload_cases() -> list[Case]:
    """All cases."""
    return [
        Case(
            says=says,
            plural=plural,
            api_version=base["apiVersion"],
            body=with_changes(base, changes),
        )
        for plural, base, table in _TABLES
        for says, changes in table.items()
    ]
