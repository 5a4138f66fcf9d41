"""kubectl apply, and diff: what leaves the manifest leaves the object, and nothing else does."""

import pytest

from tests.real.foreign.kubectl import Kubectl
from tests.real.foreign.manifests import config_map, deployment, greeting

CLIENT_SIDE: tuple[str, ...] = ()
SERVER_SIDE = ("--server-side",)

either_side = pytest.mark.parametrize("side", [CLIENT_SIDE, SERVER_SIDE], ids=["client", "server"])


def test_client_side_apply_says_what_came_of_it(kubectl: Kubectl) -> None:
    said = [
        kubectl("apply", "--filename=-", stdin=config_map("settings", color=color))
        for color in ("blue", "red", "red")
    ]

    assert said == [f"configmap/settings {it}\n" for it in ("created", "configured", "unchanged")]
    assert kubectl.get("configmap/settings")["data"] == {"color": "red"}


def test_server_side_apply_says_what_came_of_it(kubectl: Kubectl) -> None:
    said = [
        kubectl("apply", *SERVER_SIDE, "--filename=-", stdin=config_map("settings", color=color))
        for color in ("blue", "red", "red")
    ]

    assert said == ["configmap/settings serverside-applied\n"] * 3
    assert kubectl.get("configmap/settings")["data"] == {"color": "red"}


@either_side
def test_applying_the_same_again_changes_nothing(kubectl: Kubectl, side: tuple[str, ...]) -> None:
    kubectl("apply", *side, "--filename=-", stdin=deployment("web"))
    before = kubectl.get("deployment/web", "--show-managed-fields")

    kubectl("apply", *side, "--filename=-", stdin=deployment("web"))

    assert kubectl.get("deployment/web", "--show-managed-fields") == before


@either_side
def test_a_field_that_leaves_the_manifest_leaves_a_config_map(
    kubectl: Kubectl, side: tuple[str, ...]
) -> None:
    manifest = config_map("settings", color="blue", size="3")
    manifest["metadata"]["labels"] = {"tier": "front", "team": "ours"}
    kubectl("apply", *side, "--filename=-", stdin=manifest)
    manifest = config_map("settings", size="3")
    manifest["metadata"]["labels"] = {"team": "ours"}

    kubectl("apply", *side, "--filename=-", stdin=manifest)

    found = kubectl.get("configmap/settings")
    assert found["data"] == {"size": "3"}
    assert found["metadata"]["labels"] == {"team": "ours"}


@either_side
def test_items_that_leave_the_manifest_leave_the_lists_of_a_deployment(
    kubectl: Kubectl, side: tuple[str, ...]
) -> None:
    manifest = deployment("web")
    containers = manifest["spec"]["template"]["spec"]["containers"]
    containers[0]["env"] = [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}]
    containers.append({"name": "side", "image": "example.com/side:1"})
    kubectl("apply", *side, "--filename=-", stdin=manifest)
    containers[0]["env"].pop(0)
    containers.pop()

    kubectl("apply", *side, "--filename=-", stdin=manifest)

    (main,) = kubectl.get("deployment/web")["spec"]["template"]["spec"]["containers"]
    assert main["name"] == "main"
    assert main["env"] == [{"name": "B", "value": "b"}]


@either_side
def test_a_field_that_leaves_the_manifest_leaves_a_custom_resource(
    kubectl: Kubectl, greetings: None, side: tuple[str, ...]
) -> None:
    manifest = greeting("ada", name="Ada", excited=True, times=3)
    kubectl("apply", *side, "--filename=-", stdin=manifest)

    kubectl("apply", *side, "--filename=-", stdin=greeting("ada", name="Ada"))

    # What has a default falls back to it.
    assert kubectl.get("greeting/ada")["spec"] == {"name": "Ada", "excited": False}


@either_side
def test_what_others_have_set_stays(kubectl: Kubectl, side: tuple[str, ...]) -> None:
    kubectl("apply", *side, "--filename=-", stdin=deployment("web"))
    kubectl("scale", "deployment/web", "--replicas=5")
    kubectl("label", "deployment/web", "tier=front")

    kubectl("apply", *side, "--filename=-", stdin=deployment("web", image="example.com/web:2"))

    found = kubectl.get("deployment/web")
    assert found["spec"]["replicas"] == 5
    assert found["metadata"]["labels"]["tier"] == "front"
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "example.com/web:2"


def test_server_side_apply_refuses_to_take_a_field_from_another_manager(kubectl: Kubectl) -> None:
    server_side = ("apply", *SERVER_SIDE, "--filename=-")
    kubectl(*server_side, "--field-manager=other", stdin=config_map("settings", color="blue"))

    complaint = kubectl.refused(*server_side, stdin=config_map("settings", color="red"))

    assert complaint.startswith(
        'error: Apply failed with 1 conflict: conflict with "other": .data.color\n'
    )
    assert kubectl.get("configmap/settings")["data"] == {"color": "blue"}


def test_server_side_apply_takes_a_field_by_force(kubectl: Kubectl) -> None:
    server_side = ("apply", *SERVER_SIDE, "--filename=-")
    kubectl(*server_side, "--field-manager=other", stdin=config_map("settings", color="blue"))

    kubectl(*server_side, "--force-conflicts", stdin=config_map("settings", color="red"))

    found = kubectl.get("configmap/settings", "--show-managed-fields")
    assert found["data"] == {"color": "red"}
    owners = {
        entry["manager"]: entry["fieldsV1"].get("f:data")
        for entry in found["metadata"]["managedFields"]
    }
    assert owners == {"kubectl": {"f:color": {}}}


def test_what_was_applied_by_the_client_can_be_applied_by_the_server(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=config_map("settings", color="blue", size="3"))

    kubectl("apply", *SERVER_SIDE, "--filename=-", stdin=config_map("settings", size="4"))

    # kubectl hands its own old entry over to the new manager first.
    found = kubectl.get("configmap/settings")
    assert found["data"] == {"size": "4"}


def test_apply_prunes_labelled_objects_that_are_in_no_manifest_any_more(
    kubectl: Kubectl,
) -> None:
    def labelled(name: str) -> dict[str, object]:
        manifest = config_map(name)
        manifest["metadata"]["labels"] = {"set": "ours"}
        return manifest

    prune = ("apply", "--prune", "--selector=set=ours", "--prune-allowlist=core/v1/ConfigMap")
    both = {"apiVersion": "v1", "kind": "List", "items": [labelled("one"), labelled("two")]}
    kubectl(*prune, "--filename=-", stdin=both)

    said = kubectl(*prune, "--filename=-", stdin=labelled("two"))

    assert said.splitlines()[-1] == "configmap/one pruned"
    assert kubectl("get", "configmaps", "--output=name") == "configmap/two\n"


def test_apply_finds_every_mistake_in_a_list_before_anything_is_sent(
    kubectl: Kubectl, greetings: None
) -> None:
    web = deployment("web")
    web["spec"]["replicas"] = "many"
    del web["spec"]["selector"]
    hello = greeting("hello", name="Ada")
    hello["spec"]["nmae"] = "Ada"
    everything = {"apiVersion": "v1", "kind": "List", "items": [web, hello]}

    complaint = kubectl.refused("apply", "--filename=-", stdin=everything)

    assert complaint == (
        'error: error validating "STDIN": error validating data:'
        " [ValidationError(Deployment.spec.replicas): invalid type for"
        ' io.k8s.api.apps.v1.DeploymentSpec.replicas: got "string", expected "integer",'
        ' ValidationError(Deployment.spec): missing required field "selector"'
        " in io.k8s.api.apps.v1.DeploymentSpec,"
        ' ValidationError(Greeting.spec): unknown field "nmae"'
        " in dev.steersman.foreign.v1.Greeting.spec];"
        " if you choose to ignore these errors, turn validation off with --validate=false"
    )


@either_side
def test_diff_shows_what_apply_would_change(kubectl: Kubectl, side: tuple[str, ...]) -> None:
    kubectl("apply", *side, "--filename=-", stdin=deployment("web"))
    changed = deployment("web", image="example.com/web:2")

    diff = kubectl.run("diff", *side, "--filename=-", stdin=changed)

    lines = [line.strip() for line in diff.stdout.splitlines() if line[:1] in "+-"]
    changes = [line for line in lines if not line.startswith(("+++", "---", "diff"))]
    assert diff.status == 1, diff.stderr
    assert [" ".join(line.split()) for line in changes] == [
        "- generation: 1",
        "+ generation: 2",
        "- - image: example.com/web:1",
        "+ - image: example.com/web:2",
    ]


@either_side
def test_diff_says_nothing_where_nothing_would_change(
    kubectl: Kubectl, side: tuple[str, ...]
) -> None:
    kubectl("apply", *side, "--filename=-", stdin=deployment("web"))

    diff = kubectl("diff", *side, "--filename=-", stdin=deployment("web"))

    assert diff == ""
    assert kubectl.get("deployment/web")["metadata"]["generation"] == 1


def test_diff_shows_an_object_that_is_not_there_yet(kubectl: Kubectl) -> None:
    diff = kubectl.run("diff", "--filename=-", stdin=config_map("settings", color="blue"))

    assert diff.status == 1
    assert "+  color: blue" in diff.stdout.splitlines()
    assert kubectl("get", "configmaps", "--output=name") == ""
