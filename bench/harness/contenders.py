"""The names of the contenders, in every table and chart."""

CONTROLLER_RUNTIME = "controller-runtime"
# steersman drops managedFields by default, and controller-runtime keeps them.
CONTROLLER_RUNTIME_STRIPPED = "controller-runtime, no managedFields"
# steersman lists, and controller-runtime streams the initial list through the watch by default.
CONTROLLER_RUNTIME_LISTING = "controller-runtime, listing"
# Both settings as in steersman.
CONTROLLER_RUNTIME_ALIKE = "controller-runtime, listing, no managedFields"
# steersman applies a status. controller-runtime updates it, which the server rejects if its cache
# is stale.
CONTROLLER_RUNTIME_PATCHING = "controller-runtime, patching status"
STEERSMAN = "steersman"
STEERSMAN_UVLOOP = "steersman, uvloop"
# Not a contender: the duration of one list request.
LIST_ALONE = "the list alone, not decoded"
OFFICIAL = "kubernetes (official)"
ASYNCIO = "kubernetes_asyncio"
LIGHTKUBE = "lightkube"
KR8S = "kr8s"
KOPF = "kopf"
KOPF_INDEX = "kopf, index"

# The servers.
REAL = "etcd and kube-apiserver"
# Both without the controllers of Deployments and Pods.
EMBEDDED = "steersman cluster up --no-workloads"
EMBEDDED_WHOLE = "steersman cluster up"
IN_PROCESS = "steersman, in the process"
