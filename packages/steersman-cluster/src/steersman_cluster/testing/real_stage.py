"""A stage for a test on a real control plane."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from steersman.clock import SystemClock
from steersman_cluster.testing.cluster import Cluster
from steersman_cluster.testing.control_plane import ControlPlane, running_control_plane
from steersman_cluster.testing.namespaces import fresh_namespace
from steersman_cluster.testing.programs import find_binaries
from steersman_cluster.testing.real_world import real_world
from steersman_cluster.testing.stages import Stage, staged
from steersman_cluster.workloads import WorkloadSettings


@contextmanager
def real_stage(plane: Cluster, *, settings: WorkloadSettings) -> Iterator[Stage]:
    """A real control plane, with our workloads and a namespace for this test alone."""
    with fresh_namespace(plane) as namespace:
        opened = real_world(plane, namespace=namespace, settings=settings, clock=SystemClock())
        with staged(asyncio.new_event_loop(), opened) as stage:
            yield stage


@contextmanager
def running_real_control_plane() -> Iterator[ControlPlane]:
    """An etcd and a kube-apiserver, as found or built before."""
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        yield plane
