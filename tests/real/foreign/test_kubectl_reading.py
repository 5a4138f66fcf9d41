"""What a person asks kubectl: what there is, what happens to it, and who may do what."""

import json
import re

import yaml

from tests.real.foreign.kubectl import PATIENCE, Kubectl
from tests.real.foreign.manifests import greeting, pod


def test_get_prints_yaml(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")

    shown = yaml.safe_load(kubectl("get", "configmap", "settings", "--output=yaml"))

    metadata = shown["metadata"]
    assert re.fullmatch(r"\d+", metadata.pop("resourceVersion"))
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata.pop("uid"))
    assert metadata.pop("creationTimestamp")
    assert shown == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": namespace},
        "data": {"color": "blue"},
    }


def test_get_prints_managed_fields_when_asked(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")

    shown = kubectl.get("configmap/settings", "--show-managed-fields")

    (entry,) = shown["metadata"]["managedFields"]
    assert entry.pop("time")
    assert entry == {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:color": {}}},
        "manager": "kubectl-create",
        "operation": "Update",
    }


def test_get_prints_json_of_one_object_and_of_many(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "one")
    kubectl("create", "configmap", "two")

    one = json.loads(kubectl("get", "configmap/one", "--output=json"))
    all_of_them = json.loads(kubectl("get", "configmaps", "--output=json"))

    assert (one["kind"], one["metadata"]["name"]) == ("ConfigMap", "one")
    assert all_of_them["kind"] == "List"
    assert [each["metadata"]["name"] for each in all_of_them["items"]] == ["one", "two"]


def test_get_prints_names(kubectl: Kubectl, greetings: None) -> None:
    kubectl("create", "configmap", "one")
    kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada"))

    names = kubectl("get", "configmaps,hi", "--output=name")

    assert names == "configmap/one\ngreeting.foreign.steersman.dev/ada\n"


def test_get_prints_what_a_jsonpath_finds(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "one", "--from-literal=color=blue")
    kubectl("create", "configmap", "two", "--from-literal=color=red")

    colors = kubectl("get", "configmaps", "--output=jsonpath={.items[*].data.color}")

    assert colors == "blue red"


def test_get_prints_columns_of_ones_own(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "one", "--from-literal=color=blue")

    columns = kubectl("get", "configmaps", "--output=custom-columns=WHO:.metadata.name")

    assert columns.splitlines() == ["WHO", "one"]


def test_get_finds_by_label_and_by_field(kubectl: Kubectl) -> None:
    for name, tier in (("one", "front"), ("two", "front"), ("three", "back")):
        kubectl("create", "configmap", name)
        kubectl("label", "configmap", name, f"tier={tier}")

    in_front = kubectl("get", "configmaps", "--selector=tier in (front)", "--output=name")
    not_two = kubectl(
        "get",
        "configmaps",
        "--selector=tier=front",
        "--field-selector=metadata.name!=two",
        "--output=name",
    )

    assert in_front == "configmap/one\nconfigmap/two\n"
    assert not_two == "configmap/one\n"


def test_get_reads_a_long_list_in_pages(kubectl: Kubectl) -> None:
    for number in range(7):
        kubectl("create", "configmap", f"number-{number}")

    names = kubectl("get", "configmaps", "--chunk-size=3", "--output=name")

    assert names.splitlines() == [f"configmap/number-{number}" for number in range(7)]


def test_get_says_what_is_not_there(kubectl: Kubectl) -> None:
    assert kubectl.refused("get", "configmap", "nobody") == (
        'Error from server (NotFound): configmaps "nobody" not found'
    )
    assert kubectl.refused("get", "unicorns") == (
        'error: the server doesn\'t have a resource type "unicorns"'
    )


def test_get_reads_any_path(kubectl: Kubectl) -> None:
    assert kubectl("get", "--raw=/readyz") == "ok"


def test_wait_ends_when_a_condition_holds(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "--filename=-", stdin=pod("web"))
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    kubectl("patch", "pod/web", "--subresource=status", "--patch", json.dumps(ready))

    said = kubectl("wait", "pod/web", "--for=condition=Ready", PATIENCE)

    assert said == "pod/web condition met\n"


def test_wait_gives_up_on_what_never_comes(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")

    complaint = kubectl.refused(
        "wait", "configmap/settings", "--for=jsonpath={.data.color}=red", "--timeout=100ms"
    )

    assert complaint == "error: timed out waiting for the condition on configmaps/settings"


def test_wait_sees_a_value_come(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")

    with kubectl.started(
        "wait", "configmap/settings", "--for=jsonpath={.data.color}=red", PATIENCE
    ) as waiting:
        kubectl("patch", "configmap/settings", "--patch", '{"data": {"color": "red"}}')

        assert waiting.read() == "configmap/settings condition met\n"


def test_wait_sees_an_object_come_and_go(kubectl: Kubectl) -> None:
    with kubectl.started("wait", "configmap/settings", "--for=create", PATIENCE) as waiting:
        kubectl("create", "configmap", "settings")
        assert waiting.read() == "configmap/settings condition met\n"

    with kubectl.started("wait", "configmap/settings", "--for=delete", PATIENCE) as waiting:
        kubectl("delete", "configmap", "settings")
        assert waiting.read() in ("configmap/settings condition met\n", "")


def test_api_resources_lists_built_in_and_custom_kinds(kubectl: Kubectl, greetings: None) -> None:
    deployments = kubectl("api-resources", "--api-group=apps", "--no-headers")
    ours = kubectl("api-resources", "--api-group=foreign.steersman.dev", "--no-headers")
    namespaced = kubectl("api-resources", "--namespaced=false", "--verbs=list", "--output=name")

    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in [
        line.split() for line in deployments.splitlines()
    ]
    assert ours.split() == ["greetings", "hi", "foreign.steersman.dev/v1", "true", "Greeting"]
    assert {"namespaces", "nodes", "customresourcedefinitions.apiextensions.k8s.io"} <= set(
        namespaced.splitlines()
    )


def test_api_versions_lists_groups(kubectl: Kubectl, greetings: None) -> None:
    versions = kubectl("api-versions").splitlines()

    assert {"v1", "apps/v1", "batch/v1", "foreign.steersman.dev/v1"} <= set(versions)


def test_explain_knows_the_fields_of_built_in_and_custom_kinds(
    kubectl: Kubectl, greetings: None
) -> None:
    built_in = kubectl("explain", "deployment.spec.replicas")
    custom = kubectl("explain", "greeting.spec.name")

    assert "FIELD: replicas <integer>" in built_in
    assert "FIELD: name <string>" in custom
    assert "Who is greeted." in custom


def test_explain_knows_the_fields_in_the_old_way_too(kubectl: Kubectl, greetings: None) -> None:
    old = "--output=plaintext-openapiv2"

    built_in = kubectl("explain", old, "deployment.spec")
    custom = kubectl("explain", old, "greeting.spec.name")

    assert "replicas\t<integer>" in built_in
    assert "selector\t<Object> -required-" in built_in
    assert "FIELD:    name <string>" in custom
    assert "Who is greeted." in custom


def test_version_names_the_server(kubectl: Kubectl) -> None:
    versions = json.loads(kubectl("version", "--output=json"))

    assert versions["serverVersion"]["gitVersion"].startswith("v1.36.")


def test_can_i_says_yes_to_the_admin_and_no_to_a_stranger(kubectl: Kubectl) -> None:
    mine = kubectl("auth", "can-i", "delete", "deployments.apps")
    theirs = kubectl.run("auth", "can-i", "delete", "deployments.apps", "--as=stranger")

    assert mine == "yes\n"
    assert (theirs.status, theirs.stdout) == (1, "no\n")


def test_can_i_follows_a_role(kubectl: Kubectl, namespace: str) -> None:
    reader = f"--as=system:serviceaccount:{namespace}:reader"
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=configmaps")
    kubectl(
        "create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={namespace}:reader"
    )

    kubectl.until("yes\n", "auth", "can-i", "list", "configmaps", reader)
    assert kubectl.run("auth", "can-i", "create", "configmaps", reader).stdout == "no\n"
    assert kubectl.run("auth", "can-i", "list", "configmaps", reader, "-n=default").stdout == "no\n"
    assert ["configmaps", "[]", "[]", "[get", "list]"] in [
        line.split() for line in kubectl("auth", "can-i", "--list", reader).splitlines()
    ]
    assert kubectl.refused("create", "configmap", "settings", reader) == (
        "error: failed to create configmap: configmaps is forbidden: User"
        f' "system:serviceaccount:{namespace}:reader" cannot create resource "configmaps"'
        f' in API group "" in the namespace "{namespace}"'
    )


def test_who_am_i_names_the_user_and_the_groups(kubectl: Kubectl) -> None:
    me = json.loads(
        kubectl("auth", "whoami", "--as=ada", "--as-group=mathematicians", "--output=json")
    )

    user = me["status"]["userInfo"]
    assert user["username"] == "ada"
    assert set(user["groups"]) == {"mathematicians", "system:authenticated"}


def test_watch_shows_what_is_there_and_then_every_change(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "one")
    kubectl("create", "configmap", "two")

    with kubectl.started("get", "--watch", "configmaps", "--output=name") as lines:
        assert {lines.readline(), lines.readline()} == {"configmap/one\n", "configmap/two\n"}
        kubectl("label", "configmap", "two", "tier=front")
        assert lines.readline() == "configmap/two\n"
        kubectl("create", "configmap", "three")
        assert lines.readline() == "configmap/three\n"


def test_watch_says_what_kind_of_change_it_was(kubectl: Kubectl, greetings: None) -> None:
    shown = "--output=jsonpath={.type} {.object.metadata.name} {.object.spec.name}{'\\n'}"

    with kubectl.started("get", "--watch", "greetings", "--output-watch-events", shown) as lines:
        kubectl("create", "--filename=-", stdin=greeting("ada", name="Ada"))
        assert lines.readline() == "ADDED ada Ada\n"
        kubectl("patch", "hi/ada", "--type=merge", '--patch={"spec": {"name": "Lovelace"}}')
        assert lines.readline() == "MODIFIED ada Lovelace\n"
        kubectl("delete", "greeting/ada")
        assert lines.readline() == "DELETED ada Lovelace\n"


def test_watch_shows_only_what_is_selected(kubectl: Kubectl) -> None:
    shown = "--output=jsonpath={.type} {.object.metadata.name}{'\\n'}"

    with kubectl.started(
        "get", "--watch", "configmaps", "--selector=tier=front", "--output-watch-events", shown
    ) as lines:
        kubectl("create", "configmap", "one")
        kubectl("label", "configmap", "one", "tier=front")
        assert lines.readline() == "ADDED one\n"
        kubectl("label", "--overwrite", "configmap", "one", "tier=back")
        assert lines.readline() == "DELETED one\n"
