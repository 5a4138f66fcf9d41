"""Requests: their paths, queries and reprs."""

from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from steersman.wire import Request

PATHS = st.text(st.sampled_from("ab0/:@!$&'()*+,;=-._~?#%[]\\\"<>^`{|} \n\0é😀"), max_size=8)


def test_no_header_of_a_request_appears_in_a_repr() -> None:
    request = Request(
        method="PUT",
        path="/api/v1/namespaces/default/secrets/db",
        headers=(("Authorization", "Bearer canary"),),
        body=b'{"data": "canary"}',
    )

    assert "canary" not in repr(request)
    assert "canary" not in str(request.__rich_repr__())
    assert "/api/v1/namespaces/default/secrets/db" in repr(request)


def test_path_segments_are_encoded_without_their_separators() -> None:
    request = Request(method="GET", path="/apis/rbac/v1/clusterroles/system:node é?#%")

    assert request.target == "/apis/rbac/v1/clusterroles/system:node%20%C3%A9%3F%23%25"


def test_a_query_keeps_its_order_and_repeated_keys() -> None:
    request = Request(
        method="GET", path="/x", query=(("b", "1&2"), ("a", "app=web,tier in (a)"), ("b", ""))
    )

    assert request.target == "/x?b=1%262&a=app%3Dweb%2Ctier+in+%28a%29&b="


@given(PATHS)
def test_any_path_round_trips_through_its_encoding(path: str) -> None:
    target = Request(method="GET", path=path).target

    assert unquote(target) == path
    assert target.isascii()
    assert not set(target) & set('?#[]\\"<>^`{|} \n\0')


@given(st.text(), st.lists(st.tuples(st.text(), st.text())))
def test_no_target_has_a_character_that_ends_a_line(
    path: str, query: list[tuple[str, str]]
) -> None:
    target = Request(method="GET", path=path, query=tuple(query)).target

    assert all("!" <= character <= "~" for character in target)
