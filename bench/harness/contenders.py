"""What those that are compared are called, in every table and chart."""

THEIRS = "controller-runtime"
# Ours drops them unless told otherwise, theirs keeps them: so it is also asked to drop them.
THEIRS_STRIPPED = "controller-runtime, no managedFields"
# Ours lists what is there, theirs has it streamed by the watch: so it is also asked to list.
THEIRS_LISTING = "controller-runtime, listing"
OURS = "steersman"
OURS_UVLOOP = "steersman, uvloop"
OFFICIAL = "kubernetes (official)"
ASYNCIO = "kubernetes_asyncio"
LIGHTKUBE = "lightkube"
KR8S = "kr8s"
KOPF = "kopf"
KOPF_INDEX = "kopf, index"

# The servers.
REAL = "etcd and kube-apiserver"
EMBEDDED = "steersman cluster up"
IN_PROCESS = "steersman, in the process"
