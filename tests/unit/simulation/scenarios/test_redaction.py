"""Ignored fields of a comparison, and redaction of its output."""

from base64 import b64encode
from typing import Any

from steersman_cluster.simulation.scenarios.redaction import IgnoredFields
from steersman_cluster.simulation.scenarios.state import ClusterState, differences, state_of


def secret(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "uid": f"uid of {name}"},
        "data": {key: b64encode(value.encode()).decode() for key, value in data.items()},
    }


def state_with(token: str, other: str) -> ClusterState:
    """Return the state of a Secret with one token and an outside system with the other."""
    tokens = {token: 0} if token == other else {token: 0, other: 1}
    return state_of([secret("one", key=token)], outside={"key": other}, tokens=tokens)


def test_ignored_paths_are_removed_from_maps_and_lists() -> None:
    obj = {"spec": {"a.b": 1, "c": [{"d": 2, "e": 3}, {"d": 4}]}, "status": {"f": 5}}

    assert IgnoredFields(["K.spec[a.b]", "K.spec.c.*.d", "K.status.*"]).without("K", obj) == {
        "spec": {"c": [{"e": 3}, {}]},
        "status": {},
    }
    assert IgnoredFields(["K.spec.c.0"]).without("K", obj)["spec"]["c"] == [{"d": 4}]
    assert IgnoredFields(["Other.spec"]).without("K", obj) == obj


def test_tokens_are_compared_by_their_positions() -> None:
    assert state_with("first token", "first token") == state_with("second token", "second token")
    assert state_with("first token", "first token") != state_with("second token", "third token")


def test_tokens_are_printed_as_numbers() -> None:
    before, after = (
        state_with("first token", "first token"),
        state_with("second token", "third token"),
    )

    assert differences(before, after) == (
        "outside the cluster: expected key <token 1>, found <token 2>",
    )


def test_differences_do_not_contain_the_data_of_a_secret() -> None:
    before = state_of([secret("one", password="the first one", pin="1")], outside=["the first one"])
    after = state_of(
        [secret("one", password="the second one", pin="2")], outside=["the second one"]
    )

    assert differences(before, after) == (
        "outside the cluster: expected [0] <hidden>, found another one",
        "Secret one: expected data.password <hidden>, found another one",
        "Secret one: expected data.pin <hidden>, found another one",
    )
    assert "the first one" not in repr(before)


def test_the_data_of_a_deleted_secret_is_not_shown() -> None:
    before = state_of([], outside={})
    after = state_of([], outside={"password": "the first one"}, secrets=["the first one"])

    assert differences(before, after) == (
        "outside the cluster: expected no password, found <hidden>",
    )


def test_a_secret_that_contains_an_address_is_hidden_after_renaming() -> None:
    url = "postgres://ada:battery@10.0.0.7/db"

    assert differences(
        state_of([secret("one", url=url)], outside={}),
        state_of([secret("one", url=url)], outside={"url": f"{url}?ssl=true"}),
    ) == ("outside the cluster: expected no url, found <hidden>?ssl=true",)


def test_a_short_secret_is_hidden_only_as_a_whole_field() -> None:
    before = state_of([secret("one", pin="1234")], outside={"at": "1234 Main Street"})
    after = state_of([secret("one", pin="1234")], outside={"at": "1234 Main Road", "is": ["1234"]})

    assert differences(before, after) == (
        "outside the cluster: expected at 1234 Main Street, found 1234 Main Road",
        'outside the cluster: expected no is, found ["<hidden>"]',
    )


def test_a_long_text_is_truncated_after_it_is_redacted() -> None:
    long = "x" * 70
    before = state_of([secret("one", password="the first one")], outside={})
    after = state_of([secret("one", password="the first one")], outside=[f"{long} the first one"])

    assert "the f" not in " ".join(differences(before, after))


def test_a_secret_that_is_a_prefix_of_another_is_hidden() -> None:
    before = state_of([secret("one", a="long secret", b="long secret 2")], outside="long secret 2")
    after = state_of([secret("one", a="long secret", b="long secret")], outside="long secret 2")

    assert differences(before, after) == (
        "Secret one: expected data.b <hidden>, found another one",
    )


def test_a_secret_of_the_other_run_is_not_shown() -> None:
    before = state_of([secret("one", password="the first one")], outside={})
    after = state_of([], outside={"password": "the first one"})

    assert "the first one" not in " ".join(differences(before, after))
