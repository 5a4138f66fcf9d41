"""The table rows of workloads, and of the objects that workloads create."""

from collections.abc import Sequence

from steersman_cluster.apiserver.meta.ages import Ages, between
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.tables.cells import (
    NONE,
    UNSET,
    containers,
    is_true,
    labeled,
    selected,
    selector_text,
)
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    count,
    name_column,
    number,
    part,
    printer,
    since,
    wide_column,
)

_TEMPLATE = "spec.template.spec"


def _ready(obj: Object, _: Ages) -> str:
    ready, wanted = part(obj, "status").get("readyReplicas"), part(obj, "spec").get("replicas")
    return f"{ready or 0}/{wanted or 0}"


def _selector(obj: Object, _: Ages) -> str:
    return selector_text(part(obj, "spec", "selector"))


DEPLOYMENT = printer(
    name_column(),
    column("Ready", _ready),
    column("Up-to-date", number("status.updatedReplicas")),
    column("Available", number("status.availableReplicas")),
    age_column(),
    *containers(_TEMPLATE),
    wide_column("Selector", _selector),
)

_COUNTED = (
    name_column(),
    column("Desired", number("spec.replicas"), "integer"),
    column("Current", number("status.replicas"), "integer"),
    column("Ready", number("status.readyReplicas"), "integer"),
    age_column(),
    *containers(_TEMPLATE),
)
REPLICA_SET = printer(*_COUNTED, wide_column("Selector", selected("spec.selector")))
REPLICATION_CONTROLLER = printer(*_COUNTED, wide_column("Selector", labeled("spec.selector")))

STATEFUL_SET = printer(name_column(), column("Ready", _ready), age_column(), *containers(_TEMPLATE))

DAEMON_SET = printer(
    name_column(),
    column("Desired", number("status.desiredNumberScheduled"), "integer"),
    column("Current", number("status.currentNumberScheduled"), "integer"),
    column("Ready", number("status.numberReady"), "integer"),
    column("Up-to-date", number("status.updatedNumberScheduled"), "integer"),
    column("Available", number("status.numberAvailable"), "integer"),
    column("Node Selector", labeled(f"{_TEMPLATE}.nodeSelector")),
    age_column(),
    *containers(_TEMPLATE),
    wide_column("Selector", selected("spec.selector")),
)

# The first condition that is true determines the status; a deletion precedes _UNDER_WAY.
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
    name_column(),
    column("Status", _job_status),
    column("Completions", _completions),
    column("Duration", _duration),
    age_column(),
    *containers(_TEMPLATE),
    wide_column("Selector", selected("spec.selector")),
)


def _suspended(job: Object, _: Ages) -> str:
    return {None: UNSET, True: "True", False: "False"}[part(job, "spec").get("suspend")]


_JOB_TEMPLATE = "spec.jobTemplate.spec"

CRON_JOB = printer(
    name_column(),
    column("Schedule", at("spec.schedule")),
    column("Timezone", at("spec.timeZone", NONE)),
    column("Suspend", _suspended, "boolean"),
    column("Active", count("status.active"), "integer"),
    column("Last Schedule", since("status.lastScheduleTime", NONE)),
    age_column(),
    *containers(f"{_JOB_TEMPLATE}.template.spec"),
    wide_column("Selector", selected(f"{_JOB_TEMPLATE}.selector")),
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
    name_column(),
    column("Controller", _controller),
    column("Revision", number("revision")),
    age_column(),
)

_NAMES, _IMAGES = containers("template.spec")

POD_TEMPLATE = printer(
    name_column(),
    column("Containers", _NAMES[1]),
    column("Images", _IMAGES[1]),
    column("Pod Labels", labeled("template.metadata.labels")),
)

SCALE = printer(
    column("Name", at("metadata.name")),
    column("Desired", number("spec.replicas"), "integer"),
    column("Available", number("status.replicas"), "integer"),
    age_column(),
)
