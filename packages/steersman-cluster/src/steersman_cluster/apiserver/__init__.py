"""The embedded API server: Kubernetes' API in one Python process, for development and tests.

Takes:     requests, as bytes, over HTTPS or from within the process
Gives:     the answers that kube-apiserver 1.36 would give, and the same state afterwards
Promises:  - every watcher sees every event once and in order
           - a crash of one request never harms another
           - a list that takes several pages is of one moment
           - nothing is written by a dry run
           - without a token only what is public can be read
           - the server in the process needs no socket, no thread and no task of its own
Never:     imports ``kinds`` or ``client``, or claims to be a cluster for production

A request meets ``server``, which asks ``access`` who it is and whether they may; ``asking``, which
reads it; ``verbs``, which do it by the ``Rules`` in ``builtin`` and ``custom``, with ``schema``,
``cel``, ``patching`` and ``fields``; ``admission``, which shows it to those ``outside`` who want to
see it; and ``storage``, which keeps it. What is served is in ``served``; in which of the ``forms``
it is shown is up to who asks: ``tables`` are one of them, ``messages`` in protobuf another.
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman_cluster.apiserver.access import ADMINISTRATORS, User
from steersman_cluster.apiserver.outside import Delivered, NoWayOut, Outbound, Undelivered
from steersman_cluster.apiserver.server import ApiServer, administrator
from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal
from steersman_cluster.apiserver.terms import ADMISSION_PLUGINS, AUTHORIZATION_MODES, Terms
from steersman_cluster.apiserver.transport import InProcessTransport

if TYPE_CHECKING:
    from steersman_cluster.apiserver.running import ClusterSettings, RunningCluster, running_cluster

__all__ = [
    "ADMINISTRATORS",
    "ADMISSION_PLUGINS",
    "AUTHORIZATION_MODES",
    "ApiServer",
    "ClusterSettings",
    "Delivered",
    "InProcessTransport",
    "Key",
    "NoWayOut",
    "Outbound",
    "RevisionLog",
    "RunningCluster",
    "SqliteJournal",
    "Terms",
    "Undelivered",
    "User",
    "administrator",
    "running_cluster",
]

# A server on a socket takes cryptography, one in the process does not.
_LAZY = {
    "ClusterSettings": "running",
    "RunningCluster": "running",
    "running_cluster": "running",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
