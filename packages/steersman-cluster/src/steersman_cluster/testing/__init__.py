"""Clusters for tests of an operator: simulated in virtual time, or real on this machine.

Takes:     a test that requests ``cluster``; or the programs of a control plane, from
           ``$KUBEBUILDER_ASSETS`` or built from Go modules
Gives:     for pytest the fixture ``cluster``: a ``Cluster`` that is simulated by default, and real
           with ``--cluster=real``; a running ``RealControlPlane``: its URL, kubeconfig, users and
           kubectl, and methods to pause or crash it; pytest fixtures for a real control plane and
           for a namespace per test, in ``steersman_cluster.testing.fixtures``
Promises:  - coroutine tests run on the loop of their cluster, beside any other plugin
           - a failure report lists the writes and the replay command
           - no module of a cluster is imported before a test requests one
           - another plugin may have options and fixtures of the same names
           - the block is entered once the API server is ready
           - clients verify the certificate of the API server
           - each start has its own keys and tokens, readable only by the user
           - nothing is left when the block ends, or the process is killed
           - a program in the cache is complete, even if a build was killed
           - only requested programs must exist
           - a namespace and all its objects are deleted when its block ends
Never:     listens beyond loopback, touches a cluster it did not start, or builds during a test
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman_cluster.testing.control_plane.component import Component
    from steersman_cluster.testing.control_plane.control_plane import ControlPlane
    from steersman_cluster.testing.control_plane.credentials import ControlPlaneCredentials
    from steersman_cluster.testing.control_plane.embedded_control_plane import (
        EmbeddedControlPlane,
        running_embedded_control_plane,
    )
    from steersman_cluster.testing.control_plane.programs import Binaries, Program, find_binaries
    from steersman_cluster.testing.control_plane.real_control_plane import (
        RealControlPlane,
        running_real_control_plane,
    )
    from steersman_cluster.testing.namespaces import fresh_namespace

__all__ = [
    "Binaries",
    "Component",
    "ControlPlane",
    "ControlPlaneCredentials",
    "EmbeddedControlPlane",
    "Program",
    "RealControlPlane",
    "find_binaries",
    "fresh_namespace",
    "running_embedded_control_plane",
    "running_real_control_plane",
]

# Certificates need cryptography; building the programs does not.
_LAZY = {
    "Binaries": "control_plane.programs",
    "ControlPlane": "control_plane.control_plane",
    "Component": "control_plane.component",
    "RealControlPlane": "control_plane.real_control_plane",
    "ControlPlaneCredentials": "control_plane.credentials",
    "EmbeddedControlPlane": "control_plane.embedded_control_plane",
    "Program": "control_plane.programs",
    "find_binaries": "control_plane.programs",
    "fresh_namespace": "namespaces",
    "running_real_control_plane": "control_plane.real_control_plane",
    "running_embedded_control_plane": "control_plane.embedded_control_plane",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
