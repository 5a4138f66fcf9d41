"""Names are validated by the rules of Kubernetes, and errors state the broken rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadName
from steersman.names import (
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
    ObjectRef,
    ResourceType,
    check_class_kind,
    check_group,
    check_kind,
    check_label,
    check_label_key,
    check_label_value,
    check_path_segment,
    check_plural,
    check_subdomain,
    check_version,
    plural_of,
    split_api_version,
)


def test_an_api_version_names_its_group_and_version() -> None:
    assert split_api_version("apps/v1") == ("apps", "v1")
    assert split_api_version("v1") == ("", "v1")


@pytest.mark.parametrize(
    "api_version", ["", "/", "/v1", "apps/", "a/b/v1", "../v1", "apps/..", "a%2f/v1"]
)
def test_an_api_version_of_another_form_is_rejected(api_version: str) -> None:
    with pytest.raises(BadName, match="VERSION or GROUP/VERSION"):
        split_api_version(api_version)


@given(
    group=st.sampled_from(["", "apps", "app.example.com"]), version=st.sampled_from(["v1", "v2"])
)
def test_a_kind_is_found_by_the_api_version_and_kind_of_its_objects(
    group: str, version: str
) -> None:
    gvk = GroupVersionKind(group, version, "Widget")

    assert GroupVersionKind.of(gvk.api_version, gvk.kind) == gvk


def test_names_are_printed_as_in_kubectl() -> None:
    gvk = GroupVersionKind("apps", "v1", "Deployment")
    resource = ResourceType(gvk=gvk, plural="deployments", namespaced=True)

    assert str(gvk) == "apps/v1 Deployment"
    assert resource.gvr == GroupVersionResource("apps", "v1", "deployments")
    assert str(resource.gvr) == "apps/v1 deployments"
    assert GroupVersionResource("", "v1", "pods").api_version == "v1"


def test_a_namespaced_object_is_printed_with_its_namespace() -> None:
    assert str(ObjectRef("Deployment", "default", "web")) == "Deployment default/web"
    assert str(ObjectRef("Node", None, "one")) == "Node one"


@pytest.mark.parametrize("key", [ObjectKey("default", "web"), ObjectKey(None, "node-1")], ids=str)
def test_a_key_round_trips_through_text(key: ObjectKey) -> None:
    assert ObjectKey.parse(str(key)) == key


def test_a_key_is_printed_as_namespace_and_name() -> None:
    assert str(ObjectKey("default", "web")) == "default/web"
    assert f"{ObjectKey(None, 'node-1')}" == "node-1"


@pytest.mark.parametrize("text", ["", "/", "/web", "default/", "a/b/c", "a//b"])
def test_text_that_is_not_a_key_is_rejected(text: str) -> None:
    with pytest.raises(BadName, match="NAME or NAMESPACE/NAME"):
        ObjectKey.parse(text)


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Deployment", "deployments"),
        ("Ingress", "ingresses"),
        ("Box", "boxes"),
        ("Batch", "batches"),
        ("NetworkPolicy", "networkpolicies"),
        ("Gateway", "gateways"),
        ("Mouse", "mouses"),
    ],
)
def test_plurals_follow_the_rules_of_spelling(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (check_group, "app.example.com"),
        (check_version, "v1beta1"),
        (check_kind, "AppService"),
        (check_kind, "postgresql"),
        (check_kind, "App-Service"),
        (check_class_kind, "AppService"),
        (check_label, "a-1"),
        (check_label, "0"),
        (check_plural, "appservices"),
        (check_subdomain, "web.v1"),
        (check_path_segment, "system:node"),
        (check_label_key, "app"),
        (check_label_key, "app.kubernetes.io/name"),
        (check_label_value, ""),
        (check_label_value, "v1.2_x"),
    ],
)
def test_a_valid_name_is_returned(check, good: str) -> None:  # type: ignore[no-untyped-def]
    assert check(good) == good


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (check_group, "example"),
        (check_group, "App.example.com"),
        (check_group, "a." + "b" * 252),
        (check_version, "1"),
        (check_version, "V1"),
        (check_kind, "2Apps"),
        (check_kind, "App_Service"),
        (check_kind, "App-"),
        (check_kind, "A" * 64),
        (check_class_kind, "appService"),
        (check_class_kind, "App-Service"),
        (check_class_kind, "A" * 64),
        (check_label, ""),
        (check_label, "-a"),
        (check_label, "a" * 64),
        (check_label, "a\n"),
        (check_plural, "1apps"),
        (check_subdomain, "a..b"),
        (check_subdomain, "a" * 254),
        (check_path_segment, ""),
        (check_path_segment, ".."),
        (check_path_segment, "a/b"),
        (check_path_segment, "a%2fb"),
        (check_label_key, ""),
        (check_label_key, "/app"),
        (check_label_key, "Upper.example.com/app"),
        (check_label_key, "a" * 64),
        (check_label_value, "-a"),
        (check_label_value, "a b"),
        (check_label_value, "a" * 64),
    ],
)
def test_the_error_for_an_invalid_name_states_the_rule(check, bad: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadName) as refused:
        check(bad)

    assert refused.value.value == bad
    assert refused.value.rule in str(refused.value)
