"""Operators with client-go, kopf and lightkube run unmodified on the embedded server."""

from contextlib import ExitStack
from typing import Any

import pytest

from tests.real.foreign.kubectl import Kubectl, Server
from tests.real.foreign.manifests import greeting
from tests.real.foreign.processes import (
    CLIENT_GO,
    KOPF,
    LIGHTKUBE,
    Operator,
    client_go,
    running,
)

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("greetings")]

each_operator = pytest.mark.parametrize("operator", [CLIENT_GO, KOPF, LIGHTKUBE], ids=str)


def has_message(message: str) -> str:
    """The condition for ``kubectl wait`` on a ConfigMap."""
    return f"jsonpath={{.data.message}}={message}"


def reports(message: str) -> str:
    """The condition for ``kubectl wait`` on a Greeting."""
    return f"jsonpath={{.status.message}}={message}"


def apply(kubectl: Kubectl, manifest: dict[str, Any]) -> None:
    kubectl("apply", "--filename=-", stdin=manifest)


@each_operator
def test_an_operator_creates_the_children_of_a_new_object(
    operator: Operator, server: Server, kubectl: Kubectl, namespace: str
) -> None:
    with running(operator.command(namespace), server=server):
        apply(kubectl, greeting("ada", name="Ada"))

        kubectl.wait("greeting/ada", reports("Hello, Ada."))
        config_map, found = kubectl.get("configmap/ada"), kubectl.get("greeting/ada")

    assert config_map["data"] == {"message": "Hello, Ada."}
    (owner,) = config_map["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Greeting", "ada")
    assert owner["uid"] == found["metadata"]["uid"]
    assert found["metadata"]["finalizers"] == [operator.finalizer]
    assert found["metadata"]["generation"] == 1


@each_operator
def test_an_operator_applies_a_change_of_the_object(
    operator: Operator, server: Server, kubectl: Kubectl, namespace: str
) -> None:
    with running(operator.command(namespace), server=server):
        apply(kubectl, greeting("ada", name="Ada"))
        kubectl.wait("greeting/ada", reports("Hello, Ada."))

        apply(kubectl, greeting("ada", name="Ada", excited=True))

        kubectl.wait("greeting/ada", reports("Hello, Ada!"))
        kubectl.wait("configmap/ada", has_message("Hello, Ada!"))


@each_operator
def test_an_operator_cleans_up_before_an_object_is_removed(
    operator: Operator, server: Server, kubectl: Kubectl, namespace: str
) -> None:
    with running(operator.command(namespace), server=server):
        apply(kubectl, greeting("ada", name="Ada"))
        kubectl.wait("greeting/ada", reports("Hello, Ada."))

        kubectl("delete", "greeting/ada", "--timeout=40s")

        left = kubectl("get", "greetings,configmaps", "--output=name")
    assert left == ""


@each_operator
def test_an_operator_handles_changes_from_before_its_start(
    operator: Operator, server: Server, kubectl: Kubectl, namespace: str
) -> None:
    apply(kubectl, greeting("grace", name="Grace"))
    with running(operator.command(namespace), server=server):
        apply(kubectl, greeting("ada", name="Ada"))
        kubectl.wait("greeting/ada", reports("Hello, Ada."))
        kubectl.wait("greeting/grace", reports("Hello, Grace."))
    apply(kubectl, greeting("grace", name="Grace", excited=True))
    kubectl("delete", "greeting/ada", "--wait=false")

    with running(operator.command(namespace), server=server):
        kubectl.wait("greeting/grace", reports("Hello, Grace!"))
        kubectl.wait("greeting/ada", "delete")

        left = kubectl("get", "configmaps", "--output=name")
    assert left == "configmap/grace\n"


@each_operator
def test_an_operator_records_an_event(
    operator: Operator, server: Server, kubectl: Kubectl, namespace: str
) -> None:
    about_ada = "--field-selector=involvedObject.name=ada,reason=Greeted"
    message = "--output=jsonpath={.type} {.message}{'\\n'}"

    with (
        running(operator.command(namespace), server=server),
        kubectl.started("get", "--watch", "events", about_ada, message) as events,
    ):
        apply(kubectl, greeting("ada", name="Ada"))

        seen = events.readline()
    assert seen.replace('"', "'") == "Normal said 'Hello, Ada.'\n"


def test_the_controller_with_client_go_restores_owned_objects(
    server: Server, kubectl: Kubectl, namespace: str
) -> None:
    with running(client_go(namespace), server=server):
        apply(kubectl, greeting("ada", name="Ada"))
        kubectl.wait("configmap/ada", "create")
        first = kubectl.get("configmap/ada")["metadata"]["uid"]

        kubectl("delete", "configmap/ada")

        kubectl.wait("configmap/ada", "create")
        assert kubectl.get("configmap/ada")["metadata"]["uid"] != first


def test_a_second_replica_with_client_go_takes_over(
    server: Server, kubectl: Kubectl, namespace: str
) -> None:
    held_by = "jsonpath={.spec.holderIdentity}="

    with ExitStack() as replicas:
        with running(client_go(namespace, "-identity=first"), server=server):
            kubectl.wait("lease/greeter", f"{held_by}first")
            replicas.enter_context(running(client_go(namespace, "-identity=second"), server=server))
        apply(kubectl, greeting("ada", name="Ada"))

        kubectl.wait("lease/greeter", f"{held_by}second")
        kubectl.wait("greeting/ada", reports("Hello, Ada."))
