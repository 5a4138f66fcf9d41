"""A name that Kubernetes would refuse is refused, with the rule it broke."""

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
def test_an_api_version_of_any_other_form_is_refused(api_version: str) -> None:
    with pytest.raises(BadName, match="VERSION or GROUP/VERSION"):
        split_api_version(api_version)


@given(
    group=st.sampled_from(["", "apps", "app.example.com"]), version=st.sampled_from(["v1", "v2"])
)
def test_a_kind_is_found_again_by_what_its_objects_carry(group: str, version: str) -> None:
    gvk = GroupVersionKind(group, version, "Widget")

    assert GroupVersionKind.of(gvk.api_version, gvk.kind) == gvk


def test_coordinates_are_written_as_people_write_them() -> None:
    gvk = GroupVersionKind("apps", "v1", "Deployment")
    resource = ResourceType(gvk=gvk, plural="deployments", namespaced=True)

    assert str(gvk) == "apps/v1 Deployment"
    assert resource.gvr == GroupVersionResource("apps", "v1", "deployments")
    assert str(resource.gvr) == "apps/v1 deployments"
    assert GroupVersionResource("", "v1", "pods").api_version == "v1"


def test_an_object_is_written_with_its_namespace_where_it_has_one() -> None:
    assert str(ObjectRef("Deployment", "default", "web")) == "Deployment default/web"
    assert str(ObjectRef("Node", None, "one")) == "Node one"


@pytest.mark.parametrize("key", [ObjectKey("default", "web"), ObjectKey(None, "node-1")], ids=str)
def test_a_key_is_read_back_from_what_is_written_of_it(key: ObjectKey) -> None:
    assert ObjectKey.parse(str(key)) == key


def test_a_key_is_written_as_people_write_it() -> None:
    assert str(ObjectKey("default", "web")) == "default/web"
    assert f"{ObjectKey(None, 'node-1')}" == "node-1"


@pytest.mark.parametrize("text", ["", "/", "/web", "default/", "a/b/c", "a//b"])
def test_what_is_no_key_is_refused(text: str) -> None:
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
def test_a_good_name_is_handed_back(check, good: str) -> None:  # type: ignore[no-untyped-def]
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
def test_a_bad_name_is_refused_with_the_rule_it_broke(check, bad: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadName) as refused:
        check(bad)

    assert refused.value.value == bad
    assert refused.value.rule in str(refused.value)
