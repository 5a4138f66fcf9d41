"""Two servers, and sessions that run on both at the same time."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    find_binaries,
    running_embedded_control_plane,
    running_real_control_plane,
)
from steersman_cluster.workloads import PARTS
from tests.real.kubectl_sessions.comparison import comparable
from tests.real.kubectl_sessions.runner import Outcome, Place, run_session
from tests.real.kubectl_sessions.scripts import Session
from tests.real.workload_process import workload_process

# The controllers that steersman's workload controllers replace.
CONTROLLERS = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "job-controller",
    "namespace-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
)

NODES = 2

Starting: TypeAlias = Callable[[], AbstractContextManager[ControlPlane]]


def real() -> AbstractContextManager[ControlPlane]:
    """The real control plane."""
    return running_real_control_plane(find_binaries(environ=os.environ), clock=SystemClock())


def embedded() -> AbstractContextManager[ControlPlane]:
    """The embedded control plane."""
    return running_embedded_control_plane(clock=SystemClock())


@contextmanager
def real_with_all_controllers() -> Iterator[ControlPlane]:
    """The real control plane with the controllers that steersman replaces."""
    with real() as cluster:
        flags = {
            "root-ca-file": cluster.credentials.ca_file,
            # The default would delay the first sync; steersman's controller syncs at once.
            "horizontal-pod-autoscaler-sync-period": "2s",
        }
        with cluster.running_controllers(*CONTROLLERS, flags=flags):
            yield cluster


@contextmanager
def embedded_with_workloads() -> Iterator[ControlPlane]:
    """The embedded server with steersman's controllers, without nodes: the session runs Pods."""
    with embedded() as cluster:
        parts = [each for each in PARTS if each not in ("nodes", "scheduler")]
        with workload_process(cluster, *parts):
            yield cluster


@contextmanager
def real_with_simulated_nodes() -> Iterator[ControlPlane]:
    """The real control plane and controllers, with steersman's simulated nodes."""
    with (
        real_with_all_controllers() as cluster,
        workload_process(cluster, "nodes", "scheduler", nodes=NODES),
    ):
        yield cluster


def embedded_cluster() -> AbstractContextManager[ControlPlane]:
    """The embedded cluster, as ``steersman cluster up`` starts it."""
    return running_embedded_control_plane(clock=SystemClock(), nodes=NODES)


# The pairs that compare steersman's controllers with the real ones.
WORKLOADS: tuple[Starting, Starting] = (real_with_all_controllers, embedded_with_workloads)
CLUSTERS: tuple[Starting, Starting] = (real_with_simulated_nodes, embedded_cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two servers that have received the same requests."""

    first: ControlPlane
    second: ControlPlane
    directory: Path
    # Whether the hashes in the names of templates and revisions differ between the servers.
    hashes_differ: bool = False

    def run(self, session: Session) -> tuple[list[Outcome], list[Outcome]]:
        """The comparable outcomes of a session on each server."""
        with ThreadPoolExecutor() as threads:
            first, second = threads.map(
                lambda cluster, side: self._side(session, cluster, side),
                (self.first, self.second),
                ("first", "second"),
            )
        return first, second

    def _side(self, session: Session, cluster: ControlPlane, side: str) -> list[Outcome]:
        place = Place(cluster=cluster, directory=self.directory / session.name / side)
        return [
            comparable(outcome, place, hashes=self.hashes_differ)
            for outcome in run_session(session, place)
        ]


@contextmanager
def running_pair(
    first: Starting,
    second: Starting,
    *,
    directory: Path,
    controllers: bool = False,
    hashes_differ: bool = False,
) -> Iterator[Pair]:
    """Start two servers, with Kubernetes' own controllers if requested."""
    with ExitStack() as until_the_end:
        clusters = [until_the_end.enter_context(each()) for each in (first, second)]
        if controllers:
            for cluster in clusters:
                until_the_end.enter_context(cluster.running_controllers())
        yield Pair(
            first=clusters[0],
            second=clusters[1],
            directory=directory,
            hashes_differ=hashes_differ,
        )
