"""What a person does with kubectl: each command does what it says, and says what it did."""

import json
import re

from tests.real.foreign.kubectl import Kubectl
from tests.real.foreign.manifests import config_map, deployment, greeting, pod


def test_create_makes_what_the_manifest_says(kubectl: Kubectl) -> None:
    said = kubectl("create", "--filename=-", stdin=config_map("settings", color="blue"))

    assert said == "configmap/settings created\n"
    assert kubectl.get("configmap", "settings")["data"] == {"color": "blue"}


def test_create_makes_objects_from_arguments(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")
    kubectl("create", "secret", "generic", "password", "--from-literal=it=hidden")
    kubectl("create", "deployment", "web", "--image=example.com/web:1", "--replicas=2")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=configmaps")

    assert kubectl.get("configmap/settings")["data"] == {"color": "blue"}
    assert kubectl.get("secret/password")["data"] == {"it": "aGlkZGVu"}
    assert kubectl.get("deployment/web")["spec"]["replicas"] == 2
    assert kubectl.get("role/reader")["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
    ]


def test_create_makes_a_service_with_an_address_of_its_own(kubectl: Kubectl) -> None:
    kubectl("create", "service", "nodeport", "web", "--tcp=80:8080")

    spec = kubectl.get("service/web")["spec"]
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", spec["clusterIP"])
    assert 30000 <= spec["ports"][0]["nodePort"] <= 32767


def test_create_refuses_what_is_there_already(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings")

    complaint = kubectl.refused("create", "--filename=-", stdin=config_map("settings"))

    assert complaint == (
        'Error from server (AlreadyExists): error when creating "STDIN":'
        ' configmaps "settings" already exists'
    )


def test_create_refuses_a_field_that_nobody_knows(kubectl: Kubectl) -> None:
    misspelt = config_map("settings") | {"daat": {"color": "blue"}}

    complaint = kubectl.refused("create", "--filename=-", stdin=misspelt)

    assert complaint == (
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1"'
        ' cannot be handled as a ConfigMap: strict decoding error: unknown field "daat"'
    )


def test_create_says_every_rule_that_a_custom_resource_breaks(
    kubectl: Kubectl, greetings: None
) -> None:
    complaint = kubectl.refused("create", "--filename=-", stdin=greeting("ada", name="", times=-1))

    # The real server goes through the fields in no order.
    summary, *rules = complaint.splitlines()
    assert summary == 'The Greeting "ada" is invalid: '
    assert sorted(rules) == [
        "* .spec.times: Invalid value: -1: should be a non-negative integer",
        '* spec.name: Invalid value: "": spec.name in body should be at least 1 chars long',
        "* spec.times: Invalid value: -1: spec.times in body should be greater than or equal to 0",
    ]


def test_create_with_a_dry_run_on_the_server_makes_nothing(kubectl: Kubectl) -> None:
    said = kubectl("create", "--dry-run=server", "--filename=-", stdin=deployment("web"))

    assert said == "deployment.apps/web created (server dry run)\n"
    assert kubectl("get", "deployments", "--output=name") == ""


def test_label_adds_changes_and_removes(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings")

    assert kubectl("label", "configmap", "settings", "tier=front", "a=b") == (
        "configmap/settings labeled\n"
    )
    assert kubectl.refused("label", "configmap", "settings", "tier=back") == (
        "error: 'tier' already has a value (front), and --overwrite is false"
    )
    kubectl("label", "--overwrite", "configmap", "settings", "tier=back")
    assert kubectl("label", "configmap", "settings", "a-") == "configmap/settings unlabeled\n"

    assert kubectl.get("configmap/settings")["metadata"]["labels"] == {"tier": "back"}


def test_annotate_adds_changes_and_removes(kubectl: Kubectl, greetings: None) -> None:
    kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada"))

    assert kubectl("annotate", "greeting", "ada", "note=first", "a=b") == (
        "greeting.foreign.steersman.dev/ada annotated\n"
    )
    kubectl("annotate", "--overwrite", "greeting", "ada", "note=second", "a-")

    assert kubectl.get("greeting/ada")["metadata"]["annotations"] == {"note": "second"}


def test_a_strategic_merge_patch_changes_one_container_of_two(kubectl: Kubectl) -> None:
    web = deployment("web")
    containers = web["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "side", "image": "example.com/side:1"})
    kubectl("create", "--filename=-", stdin=web)
    change = {"name": "side", "image": "example.com/side:2"}

    said = kubectl(
        "patch",
        "deployment",
        "web",
        "--patch",
        json.dumps({"spec": {"template": {"spec": {"containers": [change]}}}}),
    )

    assert said == "deployment.apps/web patched\n"
    images = "jsonpath={.spec.template.spec.containers[*].image}"
    # Whoever is named in the patch comes first.
    assert sorted(kubectl("get", "deployment/web", f"--output={images}").split()) == [
        "example.com/side:2",
        "example.com/web:1",
    ]


def test_a_merge_patch_changes_adds_and_removes(kubectl: Kubectl, greetings: None) -> None:
    kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada", times=3))
    patch = {"spec": {"name": "Lovelace", "excited": True, "times": None}}

    said = kubectl("patch", "greeting/ada", "--type=merge", "--patch", json.dumps(patch))
    again = kubectl("patch", "greeting/ada", "--type=merge", "--patch", json.dumps(patch))

    assert said == "greeting.foreign.steersman.dev/ada patched\n"
    assert again == "greeting.foreign.steersman.dev/ada patched (no change)\n"
    assert kubectl.get("greeting/ada")["spec"] == {"name": "Lovelace", "excited": True}


def test_a_json_patch_is_done_as_a_whole_or_not_at_all(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")
    paint = {"op": "replace", "path": "/data/color", "value": "red"}
    holds = {"op": "test", "path": "/data/color", "value": "red"}

    kubectl.refused("patch", "cm/settings", "--type=json", "--patch", json.dumps([holds, paint]))
    assert kubectl.get("cm/settings")["data"] == {"color": "blue"}
    kubectl("patch", "cm/settings", "--type=json", "--patch", json.dumps([paint, holds]))
    assert kubectl.get("cm/settings")["data"] == {"color": "red"}


def test_a_patch_of_the_status_leaves_the_spec_alone(kubectl: Kubectl, greetings: None) -> None:
    kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada"))
    patch = {"spec": {"name": "Nobody"}, "status": {"message": "Hello."}}

    kubectl(
        "patch",
        "greeting/ada",
        "--subresource=status",
        "--type=merge",
        "--patch",
        json.dumps(patch),
    )

    found = kubectl.get("greeting/ada")
    assert (found["spec"]["name"], found["status"]) == ("Ada", {"message": "Hello."})
    assert found["metadata"]["generation"] == 1


def test_scale_changes_how_many_there_should_be(kubectl: Kubectl, greetings: None) -> None:
    kubectl("create", "--filename=-", stdin=deployment("web"))
    kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada", times=1))

    assert kubectl("scale", "deployment/web", "--replicas=5") == "deployment.apps/web scaled\n"
    assert kubectl("scale", "greeting/ada", "--replicas=3") == (
        "greeting.foreign.steersman.dev/ada scaled\n"
    )
    assert (
        kubectl.refused("scale", "deployment/web", "--current-replicas=1", "--replicas=9")
        == "error: Expected replicas to be 1, was 5"
    )

    assert kubectl.get("deployment/web")["spec"]["replicas"] == 5
    assert kubectl.get("greeting/ada")["spec"]["times"] == 3


def test_delete_ends_objects_by_name_by_label_and_all(kubectl: Kubectl, namespace: str) -> None:
    for name in ("one", "two", "three", "four"):
        kubectl("create", "configmap", name)
    kubectl("label", "configmap", "two", "doomed=yes")

    by_name = kubectl("delete", "configmap", "one")
    by_label = kubectl("delete", "configmaps", "--selector=doomed=yes")
    the_rest = kubectl("delete", "configmaps", "--all")

    place = f"deleted from {namespace} namespace"
    assert by_name == f'configmap "one" {place}\n'
    assert by_label == f'configmap "two" {place}\n'
    assert the_rest == f'configmap "four" {place}\nconfigmap "three" {place}\n'
    assert kubectl("get", "configmaps", "--output=name") == ""


def test_delete_complains_of_what_is_not_there_unless_told_otherwise(kubectl: Kubectl) -> None:
    assert kubectl.refused("delete", "configmap", "nobody") == (
        'Error from server (NotFound): configmaps "nobody" not found'
    )
    assert kubectl("delete", "configmap", "nobody", "--ignore-not-found") == ""


def test_delete_waits_for_the_last_finalizer(kubectl: Kubectl, greetings: None) -> None:
    held = greeting("ada", name="Ada")
    held["metadata"]["finalizers"] = ["foreign.steersman.dev/tests"]
    kubectl("create", "--filename=-", stdin=held)

    with kubectl.started("delete", "greeting/ada") as deleting:
        kubectl.wait("greeting/ada", "jsonpath={.metadata.deletionTimestamp}")
        free = {"metadata": {"finalizers": None}}
        kubectl("patch", "greeting/ada", "--type=merge", "--patch", json.dumps(free))

        assert deleting.read().startswith('greeting.foreign.steersman.dev "ada" deleted')
    assert kubectl("get", "greetings", "--output=name") == ""


def test_delete_by_force_does_not_wait_for_a_kubelet(kubectl: Kubectl) -> None:
    kubectl("create", "--filename=-", stdin=pod("web"))

    kubectl("delete", "pod/web", "--grace-period=0", "--force")

    assert kubectl("get", "pods", "--output=name") == ""


def test_replace_leaves_only_what_the_manifest_says(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")
    before = kubectl.get("configmap/settings")["metadata"]["uid"]

    said = kubectl("replace", "--filename=-", stdin=config_map("settings", size="3"))

    assert said == "configmap/settings replaced\n"
    after = kubectl.get("configmap/settings")
    assert (after["data"], after["metadata"]["uid"]) == ({"size": "3"}, before)


def test_edit_sends_back_what_the_editor_made_of_it(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")

    edited = kubectl.run("edit", "configmap/settings", editor="sed -i s/blue/red/")

    assert edited.stdout == "configmap/settings edited\n"
    assert kubectl.get("configmap/settings")["data"] == {"color": "red"}


def test_set_image_starts_a_new_generation(kubectl: Kubectl) -> None:
    kubectl("create", "--filename=-", stdin=deployment("web"))

    said = kubectl("set", "image", "deployment/web", "main=example.com/web:2")

    assert said == "deployment.apps/web image updated\n"
    assert kubectl.get("deployment/web")["metadata"]["generation"] == 2
