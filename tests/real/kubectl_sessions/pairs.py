"""A real and an embedded cluster, and sessions that run in both at the same time."""

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
REPLACED_CONTROLLERS = (
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
        with cluster.running_controllers(*REPLACED_CONTROLLERS, flags=flags):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A real and an embedded cluster in which the same sessions run."""

    name: str
    real: Starting
    embedded: Starting
    # Whether both have Kubernetes' own controllers.
    controllers: bool = False
    # Whether the hashes in the names of templates and revisions differ between the clusters.
    hashes_differ: bool = False


SERVERS = Comparison(name="servers", real=real, embedded=embedded)
CONTROLLERS = Comparison(name="controllers", real=real, embedded=embedded, controllers=True)
# These compare steersman's controllers with Kubernetes' own.
WORKLOADS = Comparison(
    name="workloads",
    real=real_with_all_controllers,
    embedded=embedded_with_workloads,
    hashes_differ=True,
)
# The nodes run Pods.
CLUSTERS = Comparison(
    name="clusters",
    real=real_with_simulated_nodes,
    embedded=embedded_cluster,
    hashes_differ=True,
)


COMPARISONS = (SERVERS, CONTROLLERS, WORKLOADS, CLUSTERS)


def runs_in(session: Session, comparison: Comparison) -> bool:
    """Whether the session runs in the clusters of the comparison."""
    if session.needs_nodes:
        return comparison is CLUSTERS
    return comparison in ((CONTROLLERS, WORKLOADS) if session.needs_controllers else (SERVERS,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two clusters in which the same sessions run; ``real`` is None if its output is recorded."""

    comparison: Comparison
    real: ControlPlane | None
    embedded: ControlPlane
    directory: Path

    def run(self, session: Session) -> tuple[list[Outcome], list[Outcome]]:
        """The comparable outcomes of a session in each cluster; none of a real one that is None."""
        with ThreadPoolExecutor() as threads:
            first, second = threads.map(
                lambda cluster, side: self._side(session, cluster, side),
                (self.real, self.embedded),
                ("real", "embedded"),
            )
        return first, second

    def _side(self, session: Session, cluster: ControlPlane | None, side: str) -> list[Outcome]:
        if cluster is None:
            return []
        place = Place(cluster=cluster, directory=self.directory / session.name / side)
        return [
            comparable(outcome, place, hashes=self.comparison.hashes_differ)
            for outcome in run_session(session, place)
        ]


@contextmanager
def running_pair(
    comparison: Comparison, *, directory: Path, with_real: bool = True
) -> Iterator[Pair]:
    """Start both clusters of a comparison, or only the embedded one."""
    with ExitStack() as until_the_end:

        def started(start: Starting) -> ControlPlane:
            cluster = until_the_end.enter_context(start())
            if comparison.controllers:
                until_the_end.enter_context(cluster.running_controllers())
            return cluster

        yield Pair(
            comparison=comparison,
            real=started(comparison.real) if with_real else None,
            embedded=started(comparison.embedded),
            directory=directory,
        )
