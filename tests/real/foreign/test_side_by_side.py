"""The operators that the migration pages compare reach the same state.

One operator in Go, one with kopf and one with steersman manage Sites, with the same results. The
last tests state the differences.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from docs.code.coming_from.site import ZONE, Site
from steersman.clock import SystemClock
from steersman.manifests import as_document, crd_of, yaml_of
from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing import (
    EmbeddedControlPlane,
    fresh_namespace,
    running_embedded_control_plane,
)
from tests.real.foreign.go_programs import COMING_FROM_GO, GO_PODWATCH
from tests.real.foreign.go_suites import COMING_FROM_GO_SOURCES, SITE
from tests.real.foreign.kubectl import TIMEOUT, Kubectl
from tests.real.foreign.processes import OPERATORS, PROGRAMS, Operator, running

ROOT = Path(__file__).parents[3]
DEFINITION = COMING_FROM_GO_SOURCES / "site" / "crds" / "sites.yaml"

GO = Operator(name="controller-runtime", command=lambda _: [COMING_FROM_GO.path])
KOPF = Operator(
    name="kopf",
    command=lambda _: [
        PROGRAMS / "kopf",
        "run",
        "--standalone",
        "--all-namespaces",
        OPERATORS / "kopf_site.py",
    ],
)
STEERSMAN = Operator(
    name="steersman",
    command=lambda _: [
        sys.executable,
        ROOT / "docs" / "code" / "coming_from" / "site.py",
        "--health-address=",
        "--metrics-address=",
        f"--lease-namespace={ZONE}",
    ],
)

HANDLED = "kopf.zalando.org/last-handled-configuration"

# Both copy a value of a ConfigMap to each Site, once a second.
TIMERS: dict[str, list[str | Path]] = {
    "kopf": [
        PROGRAMS / "kopf",
        "run",
        "--standalone",
        "--all-namespaces",
        OPERATORS / "kopf_timers.py",
    ],
    "steersman": [
        "/usr/bin/env",
        f"PYTHONPATH={ROOT}",
        sys.executable,
        "-m",
        "docs.code.coming_from.timers",
        "--health-address=",
        "--metrics-address=",
        f"--lease-namespace={ZONE}",
    ],
}

pytestmark = pytest.mark.deep
each_operator = pytest.mark.parametrize("operator", [GO, KOPF, STEERSMAN], ids=str)


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[EmbeddedControlPlane]:
    """A cluster with controllers: Deployments get Pods, and orphans are deleted."""
    with running_embedded_control_plane(clock=SystemClock(), nodes=1) as cluster:
        kubectl = Kubectl(server=cluster, namespace="default", home=home)
        kubectl("apply", f"--filename={DEFINITION}")
        kubectl("wait", f"--filename={DEFINITION}", "--for=condition=Established", TIMEOUT)
        kubectl("create", "namespace", ZONE)
        yield cluster


@pytest.fixture
def namespace(server: EmbeddedControlPlane) -> Iterator[str]:
    """The namespace of this test."""
    with fresh_namespace(server) as name:
        yield name


def site(name: str, /, **spec: Any) -> dict[str, Any]:
    """The manifest of a Site."""
    return {
        "apiVersion": "web.example.com/v1",
        "kind": "Site",
        "metadata": {"name": name},
        "spec": {"image": "nginx", "replicas": 2, "config": "look", **spec},
    }


def look(color: str, *, name: str = "look") -> dict[str, Any]:
    """The ConfigMap with the environment of the Sites."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"COLOR": color},
    }


def ready(status: str) -> str:
    """The condition for ``kubectl wait`` on a Site."""
    return f"condition=Ready={status}"


@contextmanager
def running_operator(operator: Operator, kubectl: Kubectl) -> Iterator[Callable[..., None]]:
    """Run the operator and wait until a Site is ready; yield ``kubectl apply``."""

    def apply(*objects: dict[str, Any]) -> None:
        for each in objects:
            kubectl("apply", "--filename=-", stdin=each)

    with running(operator.command(""), server=kubectl.server):
        apply(look("blue"), site("web"))
        kubectl.wait("site/web", ready("True"))
        kubectl.wait("site/web", "jsonpath={.status.observedGeneration}=1")
        yield apply


def digest(kubectl: Kubectl) -> str:
    """The ConfigMap's digest in the annotation of the Pod template."""
    template = kubectl.get("deployment/web")["spec"]["template"]
    found: str = template["metadata"]["annotations"]["web.example.com/config"]
    return found


def test_the_shared_definition_is_the_one_generated_from_the_class() -> None:
    assert DEFINITION.read_text() == yaml_of([as_document(crd_of(Site))])


@each_operator
def test_a_site_gets_a_deployment_a_record_and_a_status(
    operator: Operator, kubectl: Kubectl, namespace: str
) -> None:
    with running_operator(operator, kubectl):
        found, deployment = kubectl.get("site/web"), kubectl.get("deployment/web")
        record = kubectl.get(f"--namespace={ZONE}", f"configmap/{namespace}.web")

    (owner,) = deployment["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Site", "web")
    assert owner["controller"] is True
    assert deployment["status"]["readyReplicas"] == 2
    assert record["data"] == {"target": "web"}
    assert found["metadata"]["finalizers"] == ["web.example.com/site"]
    assert found["status"]["observedGeneration"] == 1


@each_operator
def test_a_change_of_the_site_updates_its_deployment(operator: Operator, kubectl: Kubectl) -> None:
    with running_operator(operator, kubectl) as apply:
        apply(site("web", replicas=3))

        kubectl.wait("deployment/web", "jsonpath={.status.readyReplicas}=3")
        kubectl.wait("site/web", "jsonpath={.status.observedGeneration}=2")


@each_operator
def test_a_change_of_the_config_map_restarts_the_pods(operator: Operator, kubectl: Kubectl) -> None:
    with running_operator(operator, kubectl) as apply:
        before = digest(kubectl)

        apply(look("green"))

        kubectl.wait("deployment/web", "jsonpath={.metadata.generation}=2")
        assert digest(kubectl) != before


@each_operator
def test_a_deleted_deployment_is_recreated(operator: Operator, kubectl: Kubectl) -> None:
    with running_operator(operator, kubectl):
        first = kubectl.get("deployment/web")["metadata"]["uid"]

        kubectl("delete", "deployment/web")

        kubectl.wait("deployment/web", "create")
        assert kubectl.get("deployment/web")["metadata"]["uid"] != first


@each_operator
def test_a_site_reports_a_missing_config_map_and_deploys_once_it_exists(
    operator: Operator, kubectl: Kubectl
) -> None:
    about_early = "--field-selector=involvedObject.name=early"
    columns = "--output=jsonpath={.type} {.message}{'\\n'}"

    with (
        running_operator(operator, kubectl) as apply,
        kubectl.started("get", "--watch", "events", about_early, columns) as events,
    ):
        apply(site("early", config="later"))
        kubectl.wait("site/early", ready("False"))
        (condition,) = kubectl.get("site/early")["status"]["conditions"]
        event = next(line for line in events if "ConfigMap" in line)

        apply(look("red", name="later"))

        kubectl.wait("site/early", ready("True"))

    note = "There is no ConfigMap later: create it, or name another."
    assert (condition["reason"], condition["message"]) == ("ConfigMissing", note)
    assert note in event
    assert not event.startswith("Normal")


@each_operator
def test_a_deleted_site_leaves_no_objects(
    operator: Operator, kubectl: Kubectl, namespace: str
) -> None:
    with running_operator(operator, kubectl):
        kubectl("delete", "site/web", TIMEOUT)

        kubectl.wait("deployment/web", "delete")
        left = kubectl("get", "configmaps", f"--namespace={ZONE}", "--output=name")
    assert f"configmap/{namespace}.web\n" not in left


def annotations(kubectl: Kubectl) -> list[str]:
    """The Site's annotations except those of ``kubectl apply``."""
    found = kubectl.get("site/web")["metadata"]["annotations"]
    return sorted(key for key in found if not key.startswith("kubectl.kubernetes.io/"))


@pytest.mark.parametrize("operator", [GO, STEERSMAN], ids=str)
def test_a_level_triggered_operator_keeps_nothing_on_the_object(
    operator: Operator, kubectl: Kubectl
) -> None:
    with running_operator(operator, kubectl):
        assert annotations(kubectl) == []


def test_kopf_keeps_the_handled_spec_in_an_annotation(kubectl: Kubectl) -> None:
    escaped = HANDLED.replace(".", "\\.")

    with running_operator(KOPF, kubectl):
        kubectl.wait("site/web", f"jsonpath={{.metadata.annotations.{escaped}}}")
        assert annotations(kubectl) == [HANDLED]
        found = kubectl.get("site/web")["metadata"]["annotations"]
        handled = json.loads(found[HANDLED])
    assert handled["spec"] == site("web")["spec"]


def test_the_test_with_kopf_runner_passes_on_the_embedded_cluster(
    server: EmbeddedControlPlane, namespace: str
) -> None:
    environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "TEST_NAMESPACE": namespace}

    finished = subprocess.run(
        [PROGRAMS / "python", OPERATORS / "kopf_runner.py"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout


@pytest.mark.parametrize("name", TIMERS)
def test_both_timers_poll_the_external_value(
    name: str, server: EmbeddedControlPlane, kubectl: Kubectl
) -> None:
    seen = "jsonpath={.metadata.annotations.web\\.example\\.com/seen}"
    outside = look("", name="outside")
    outside["data"] = {"temperature": "12"}
    kubectl("apply", "--filename=-", stdin=outside)
    kubectl("apply", "--filename=-", stdin=site("web"))

    with running(TIMERS[name], server=server):
        kubectl.wait("site/web", f"{seen}=12")
        outside["data"] = {"temperature": "13"}
        kubectl("apply", "--filename=-", stdin=outside)
        kubectl.wait("site/web", f"{seen}=13")


def test_the_tests_in_go_pass_on_the_embedded_cluster(tmp_path: Path) -> None:
    assets = write_assets(tmp_path / "assets", search_path=os.environ.get("PATH")).directory

    outcome = SITE.run(assets, temporary=tmp_path)

    assert outcome.passed == {"TestAChangeOfTheConfigMapRestartsThePods"}, outcome.log
    assert not outcome.failed


PODWATCHES: dict[str, list[str | Path]] = {
    "client-go": [GO_PODWATCH.path],
    "steersman": [sys.executable, "-m", "podwatch"],
}


@pytest.mark.parametrize("name", PODWATCHES)
def test_both_pod_watchers_print_the_same(name: str, server: EmbeddedControlPlane) -> None:
    kubectl = Kubectl(server=server, namespace="default", home=server.kubeconfig.parent)
    environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "PYTHONUNBUFFERED": "1"}
    pod = f"{name}-pod"

    with subprocess.Popen(
        PODWATCHES[name], env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        kubectl("run", pod, "--image=nginx")
        made = next(line for line in process.stdout if pod in line)
        kubectl("delete", f"pod/{pod}", "--now")
        gone = next(line for line in process.stdout if "exist" in line and pod in line)
        process.terminate()

    assert made == f"Sync/Add/Update for Pod {pod}\n"
    assert gone == f"Pod default/{pod} does not exist anymore\n"
