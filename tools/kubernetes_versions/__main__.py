"""``python -m tools.kubernetes_versions``: run tests on each supported Kubernetes.

Arguments select versions. The exit status is 0 if all tests passed on each of them.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from steersman.clock import SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.binaries import ProgressLines
from steersman_cluster.testing.control_plane.builder import KubernetesModule
from steersman_cluster.testing.control_plane.programs import ASSETS_VARIABLE
from tools.kubernetes_versions.versions import provide, supported
from tools.results import ROOT, Run, run_pytest, table, write_record

RECORD = ROOT / "docs" / "versions" / "kubernetes.json"

# The modules of tests/real that test steersman's client, informers, controllers and manager, which
# an operator uses in clusters of any version.
CLIENT = (
    "applying",
    "authentication",
    "builtin_kinds",
    "connection_faults",
    "creating",
    "custom_resources",
    "deletion",
    "discovery",
    "impersonation",
    "logs",
    "metadata_only",
    "overload",
    "patching",
    "reading",
    "recorder",
    "secrets",
    "selecting",
    "settings",
    "subresources",
    "waiting",
    "watching",
)
INFORMERS = ("hostile_servers", "informer_scopes", "informers")
CONTROLLERS = (
    "controller_writes",
    "leadership",
    "least_privilege",
    "manager_process",
    "metrics_access",
    "no_op_applies",
    "operator_mistakes",
    "owned_children",
    "preflight",
    "recipes",
    "two_controllers",
)
# These compare the embedded server, steersman's workload controllers or kubectl with one version of
# Kubernetes, need kube-controller-manager, or test the command line and what it generates.
ONE_VERSION = (
    "answer_headers",
    "cluster_fixture",
    "control_plane",
    "controller_manager",
    "conversion_webhooks",
    "daemon_steps",
    "deployment_steps",
    "dropped_applies",
    "escalation",
    "evictions",
    "explain",
    "failover",
    "failover_external_writes",
    "generated_definitions",
    "generated_project",
    "job_steps",
    "kubectl_sessions",
    "launchers",
    "manifests",
    "nodes",
    "openapi",
    "owners",
    "propagation",
    "protobuf",
    "replication_steps",
    "rights",
    "run_command",
    "stateful_steps",
    "tokens",
    "volume_steps",
    "words",
    "workload_ends",
    "workloads",
)
TESTS = tuple(f"tests/real/test_{name}.py" for name in (*CLIENT, *INFORMERS, *CONTROLLERS))


def run_tests(kubernetes: KubernetesModule, *, workers: int) -> Run:
    """Run the tests on a real control plane with a kube-apiserver of this version."""
    with tempfile.TemporaryDirectory(prefix="steersman-kubernetes-") as directory:
        provide(
            kubernetes,
            Path(directory),
            environ=os.environ,
            clock=SystemClock(),
            progress=ProgressLines(),
        )
        return run_pytest(
            *("-m", "not deep", "--control-plane", "real"),
            *TESTS,
            version=kubernetes.version,
            python=sys.executable,
            workers=workers,
            environ={**os.environ, ASSETS_VARIABLE: directory},
        )


def main() -> int:
    """Run ``python -m tools.kubernetes_versions``; returns its exit status."""
    versions = supported()
    parser = argparse.ArgumentParser(
        prog="python -m tools.kubernetes_versions",
        description="Run the tests of the client, the informers and the controllers on each"
        " supported Kubernetes. A kube-apiserver that is missing is built with Go (ten minutes on"
        " two cores).",
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"of {', '.join(versions)}")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    arguments = parser.parse_args()
    unknown = [each for each in arguments.versions if each not in versions]
    if unknown:
        parser.error(f"{unknown[0]} is not supported; supported are {', '.join(versions)}")
    runs: list[Run] = []
    missing: dict[str, str] = {}
    for minor in arguments.versions or versions:
        sys.stderr.write(f"\nKubernetes {versions[minor].version}\n")
        try:
            runs.append(run_tests(versions[minor], workers=arguments.workers))
        except ControlPlaneError as error:
            missing[minor] = str(error)
        else:
            # Now, so that an interrupted command keeps the finished runs.
            write_record(RECORD, runs[-1:])
    sys.stdout.write(f"\n{table('Kubernetes', runs, missing)}")
    return 1 if missing or any(run.status != 0 for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
