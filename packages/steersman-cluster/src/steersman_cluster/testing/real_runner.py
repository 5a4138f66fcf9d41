"""Runs a test on a real control plane."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from steersman.clock import SystemClock
from steersman_cluster.testing.cluster_runner import ClusterRunner, running_cluster
from steersman_cluster.testing.control_plane.control_plane import ControlPlane
from steersman_cluster.testing.control_plane.programs import find_binaries
from steersman_cluster.testing.control_plane.real_control_plane import (
    RealControlPlane,
    running_real_control_plane,
)
from steersman_cluster.testing.namespaces import fresh_namespace
from steersman_cluster.testing.real_cluster import running_real_cluster
from steersman_cluster.workloads import WorkloadSettings


@contextmanager
def real_runner(plane: ControlPlane, *, settings: WorkloadSettings) -> Iterator[ClusterRunner]:
    """Open a runner with the control plane ``plane`` and steersman's workload controllers.

    The test gets a new namespace, which is deleted when the block ends.
    """
    with fresh_namespace(plane) as namespace:
        opened = running_real_cluster(
            plane, namespace=namespace, settings=settings, clock=SystemClock()
        )
        with running_cluster(asyncio.new_event_loop(), opened) as runner:
            yield runner


@contextmanager
def found_control_plane() -> Iterator[RealControlPlane]:
    """Run etcd and kube-apiserver while the block runs; their programs must exist already."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        yield plane
