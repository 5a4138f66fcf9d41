"""Rows of what runs Pods, and of what it leaves behind."""

from collections.abc import Sequence

from steersman_cluster.apiserver.meta.ages import Ages, between
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.tables.cells import (
    NONE,
    UNSET,
    containers,
    is_true,
    labelled,
    selected,
    selector_text,
)
from steersman_cluster.apiserver.tables.printers import (
    aged,
    at,
    count,
    named,
    number,
    part,
    printer,
    since,
    told,
    wide,
)

_TEMPLATE = "spec.template.spec"


def _ready(obj: Object, _: Ages) -> str:
    ready, wanted = part(obj, "status").get("readyReplicas"), part(obj, "spec").get("replicas")
    return f"{ready or 0}/{wanted or 0}"


def _selector(obj: Object, _: Ages) -> str:
    return selector_text(part(obj, "spec", "selector"))


DEPLOYMENT = printer(
    named(),
    told("Ready", _ready),
    told("Up-to-date", number("status.updatedReplicas")),
    told("Available", number("status.availableReplicas")),
    aged(),
    *containers(_TEMPLATE),
    wide("Selector", _selector),
)

_COUNTED = (
    named(),
    told("Desired", number("spec.replicas"), "integer"),
    told("Current", number("status.replicas"), "integer"),
    told("Ready", number("status.readyReplicas"), "integer"),
    aged(),
    *containers(_TEMPLATE),
)
REPLICA_SET = printer(*_COUNTED, wide("Selector", selected("spec.selector")))
REPLICATION_CONTROLLER = printer(*_COUNTED, wide("Selector", labelled("spec.selector")))

STATEFUL_SET = printer(named(), told("Ready", _ready), aged(), *containers(_TEMPLATE))

DAEMON_SET = printer(
    named(),
    told("Desired", number("status.desiredNumberScheduled"), "integer"),
    told("Current", number("status.currentNumberScheduled"), "integer"),
    told("Ready", number("status.numberReady"), "integer"),
    told("Up-to-date", number("status.updatedNumberScheduled"), "integer"),
    told("Available", number("status.numberAvailable"), "integer"),
    told("Node Selector", labelled(f"{_TEMPLATE}.nodeSelector")),
    aged(),
    *containers(_TEMPLATE),
    wide("Selector", selected("spec.selector")),
)

# The first that is true is what a Job is said to be; deletion comes between them.
_ENDED = (("Complete", "Complete"), ("Failed", "Failed"))
_UNDER_WAY = (
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _job_status(job: Object, _: Ages) -> str:
    for name, word in _ENDED:
        if is_true(job, name):
            return word
    if job["metadata"].get("deletionTimestamp") is not None:
        return "Terminating"
    return next((word for name, word in _UNDER_WAY if is_true(job, name)), "Running")


def _completions(job: Object, _: Ages) -> str:
    spec, done = part(job, "spec"), part(job, "status").get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    together = spec.get("parallelism") or 0
    return f"{done}/1 of {together}" if together > 1 else f"{done}/1"


def _duration(job: Object, ages: Ages) -> str:
    status = part(job, "status")
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    return between(start, end) if end else ages.since(start)


JOB = printer(
    named(),
    told("Status", _job_status),
    told("Completions", _completions),
    told("Duration", _duration),
    aged(),
    *containers(_TEMPLATE),
    wide("Selector", selected("spec.selector")),
)


def _suspended(job: Object, _: Ages) -> str:
    return {None: UNSET, True: "True", False: "False"}[part(job, "spec").get("suspend")]


_JOB_TEMPLATE = "spec.jobTemplate.spec"

CRON_JOB = printer(
    named(),
    told("Schedule", at("spec.schedule")),
    told("Timezone", at("spec.timeZone", NONE)),
    told("Suspend", _suspended, "boolean"),
    told("Active", count("status.active"), "integer"),
    told("Last Schedule", since("status.lastScheduleTime", NONE)),
    aged(),
    *containers(f"{_JOB_TEMPLATE}.template.spec"),
    wide("Selector", selected(f"{_JOB_TEMPLATE}.selector")),
)


def _controller(revision: Object, _: Ages) -> str:
    owners: Sequence[Object] = revision["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return NONE
    group, _, _version = owner["apiVersion"].rpartition("/")
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


CONTROLLER_REVISION = printer(
    named(),
    told("Controller", _controller),
    told("Revision", number("revision")),
    aged(),
)

_NAMES, _IMAGES = containers("template.spec")

POD_TEMPLATE = printer(
    named(),
    told("Containers", _NAMES[1]),
    told("Images", _IMAGES[1]),
    told("Pod Labels", labelled("template.metadata.labels")),
)

SCALE = printer(
    told("Name", at("metadata.name")),
    told("Desired", number("spec.replicas"), "integer"),
    told("Available", number("status.replicas"), "integer"),
    aged(),
)
