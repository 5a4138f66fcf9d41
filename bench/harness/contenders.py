"""What those that are compared are called, in every table and chart."""

THEIRS = "controller-runtime"
# Ours drops them by default, theirs keeps them: so it is also asked to drop them.
THEIRS_STRIPPED = "controller-runtime, no managedFields"
# Ours lists what is there, theirs has it streamed by the watch: so it is also asked to list.
THEIRS_LISTING = "controller-runtime, listing"
# In both it does what ours does.
THEIRS_ALIKE = "controller-runtime, listing, no managedFields"
# Ours applies a status, theirs updates it, which is refused where its cache is behind: so it is
# also asked to patch it.
THEIRS_PATCHING = "controller-runtime, patching status"
OURS = "steersman"
OURS_UVLOOP = "steersman, uvloop"
# No contender: how long the server needs for one list of everything.
LIST_ALONE = "the list alone, not decoded"
OFFICIAL = "kubernetes (official)"
ASYNCIO = "kubernetes_asyncio"
LIGHTKUBE = "lightkube"
KR8S = "kr8s"
KOPF = "kopf"
KOPF_INDEX = "kopf, index"

# The servers.
REAL = "etcd and kube-apiserver"
# The controllers of Deployments and Pods are left out of both.
EMBEDDED = "steersman cluster up --no-workloads"
EMBEDDED_WHOLE = "steersman cluster up"
IN_PROCESS = "steersman, in the process"
