"""Request paths: no name, namespace or subresource changes the path around it."""

from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steersman.client.request.paths import collection_path, home_path, object_path
from steersman.errors import BadName
from steersman.kinds import core_v1
from steersman.wire import Request
from tests.unit.client.scripted_client import Galaxy, Widget

WIDGETS = Widget.resource_type
GALAXIES = Galaxy.resource_type
PODS = core_v1.Pod.resource_type

# Characters with a meaning in a path, and some without.
NASTY = st.text(alphabet="a./%?#\\:;&=+ \n\x00é€", max_size=8) | st.text(max_size=8)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (collection_path(WIDGETS, "default"), "/apis/example.com/v1/namespaces/default/widgets"),
        (collection_path(WIDGETS, None), "/apis/example.com/v1/widgets"),
        (collection_path(GALAXIES, None), "/apis/example.com/v1/galaxies"),
        (collection_path(PODS, "default"), "/api/v1/namespaces/default/pods"),
        (object_path(PODS, "default", "web"), "/api/v1/namespaces/default/pods/web"),
        (object_path(GALAXIES, None, "system:a"), "/apis/example.com/v1/galaxies/system:a"),
        (object_path(PODS, "a", "web", "log"), "/api/v1/namespaces/a/pods/web/log"),
    ],
)
def test_a_path_consists_of_kind_namespace_and_name(path: str, expected: str) -> None:
    assert path == expected


@example("..")
@example(".")
@example("")
@example("a/../../secrets")
@example("a%2Fb")
@example("a?watch=true")
@given(NASTY)
def test_no_name_escapes_its_segment(name: str) -> None:
    try:
        path = object_path(WIDGETS, "default", name)
    except BadName:
        return

    *home, last = Request(method="GET", path=path).target.split("/")
    assert "/".join(home) == "/apis/example.com/v1/namespaces/default/widgets"
    assert unquote(last) == name
    assert last not in ("", ".", "..")
    assert not set(last) & set("?#")


@given(NASTY)
def test_no_namespace_escapes_its_segment(namespace: str) -> None:
    try:
        path = collection_path(WIDGETS, namespace)
    except BadName:
        return

    assert path == f"/apis/example.com/v1/namespaces/{namespace}/widgets"
    assert namespace.isalnum() or set(namespace) & set("-")


@given(NASTY.filter(bool))
def test_no_subresource_escapes_its_segment(subresource: str) -> None:
    try:
        path = object_path(WIDGETS, "default", "web", subresource)
    except BadName:
        return

    *_, name, last = Request(method="GET", path=path).target.split("/")
    assert (name, unquote(last)) == ("web", subresource)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%2Fb", "/"])
def test_a_name_that_could_reach_another_path_is_rejected(name: str) -> None:
    with pytest.raises(BadName, match="one path segment"):
        object_path(WIDGETS, "default", name)


def test_a_namespaced_kind_requires_a_namespace() -> None:
    with pytest.raises(BadName, match=r"example.com/v1 Widget.* is namespaced; pass a namespace"):
        object_path(WIDGETS, None, "web")
    with pytest.raises(BadName, match="pass a namespace"):
        home_path(WIDGETS, None)


def test_a_cluster_scoped_kind_has_no_namespace() -> None:
    with pytest.raises(BadName, match="is cluster-scoped"):
        object_path(GALAXIES, "default", "web")


def test_an_empty_namespace_does_not_mean_all_namespaces() -> None:
    with pytest.raises(BadName, match="a namespace"):
        collection_path(WIDGETS, "")
