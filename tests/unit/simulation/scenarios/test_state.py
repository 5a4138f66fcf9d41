"""Comparison of the final states of two runs, without random and time-dependent values."""

from typing import Any

from steersman_cluster.simulation.scenarios.state import as_lines, differences, state_of

APP, OTHER_APP = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
POD, OTHER_POD = "00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"


def thing(
    kind: str,
    name: str,
    uid: str,
    *,
    owner: str = "",
    metadata: dict[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """Return an object as the server stores it."""
    of_it: dict[str, Any] = {
        "name": name,
        "namespace": "default",
        "uid": uid,
        "resourceVersion": "17",
        **(metadata or {}),
    }
    if owner:
        of_it["ownerReferences"] = [{"kind": "App", "name": "web", "uid": owner}]
    return {"apiVersion": "v1", "kind": kind, "metadata": of_it, **rest}


def generated(name: str, uid: str, owner: str, **rest: Any) -> dict[str, Any]:
    """Return a Pod with a generated name."""
    return thing("Pod", name, uid, owner=owner, metadata={"generateName": "web-"}, **rest)


def found(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[str, ...]:
    return differences(state_of(before), state_of(after))


def test_uids_versions_times_addresses_and_generated_names_make_no_difference() -> None:
    def run(app: str, pod: str, name: str, version: str, time: str, address: str) -> Any:
        return [
            thing("App", "web", app, metadata={"resourceVersion": version}, status={"at": time}),
            generated(name, pod, app, status={"podIP": address, "startTime": time}),
            thing(
                "Note", "of", pod[::-1], data={"pod": name, "uid": pod, "ip": f"http://{address}"}
            ),
        ]

    one = run(APP, POD, "web-bcd24", "17", "2030-01-01T00:00:00Z", "10.0.0.1")
    two = run(OTHER_APP, OTHER_POD, "web-xzw89", "4", "2030-01-01T01:00:00.5Z", "10.0.0.9")

    assert found(one, two) == ()


def test_the_uid_of_another_object_makes_a_difference() -> None:
    def run(named: str) -> Any:
        return [
            thing("App", "web", APP),
            thing("App", "api", OTHER_APP),
            thing("Note", "of", POD, data=named),
        ]

    assert found(run(APP), run(OTHER_APP)) == (
        "Note default/of: expected data <uid of App default/web>, found <uid of App default/api>",
    )


def test_only_the_difference_of_generation_and_observed_generation_is_compared() -> None:
    def run(generation: int, seen: int) -> Any:
        metadata = {"generation": generation}
        return [thing("App", "web", APP, metadata=metadata, status={"observedGeneration": seen})]

    assert found(run(2, 2), run(3, 3)) == ()
    assert found(run(2, 2), run(3, 2)) == (
        "App default/web: expected status.observedGeneration current, found 1 behind",
    )


def test_the_order_of_a_list_sorted_by_generated_names_is_ignored() -> None:
    def run(first: str, second: str) -> Any:
        pods = [(first, True), (second, False)]
        listed = [{"name": name, "ready": ready} for name, ready in sorted(pods)]
        return [
            thing("App", "web", APP, status={"pods": listed}),
            generated(first, POD, APP),
            generated(second, OTHER_POD, APP),
        ]

    assert found(run("web-bbbbb", "web-ccccc"), run("web-ddddd", "web-ccccc")) == ()


def test_a_different_field_is_reported_with_both_values() -> None:
    one = [thing("App", "web", APP, spec={"size": 3, "gone": 1, "list": [1, 2]})]
    two = [thing("App", "web", APP, spec={"size": 2, "new": "x", "list": [1, 3]})]

    assert found(one, two) == (
        "App default/web: expected spec.gone 1, found none",
        "App default/web: expected spec.list[1] 2, found 3",
        "App default/web: expected no spec.new, found x",
        "App default/web: expected spec.size 3, found 2",
    )


def test_missing_and_unexpected_objects_are_reported() -> None:
    one = [thing("App", "web", APP), thing("Note", "of", POD)]
    two = [thing("App", "web", APP), thing("Secret", "leaked", POD)]

    assert found(one, two) == (
        "Note default/of: expected 1, found none",
        "Secret default/leaked: expected none, found 1",
    )


def test_a_name_that_ends_in_a_number_is_not_generated() -> None:
    assert found([generated("web-0", POD, APP)], [generated("web-1", POD, APP)])


def test_a_second_child_is_reported_once_with_both_names() -> None:
    one = [thing("App", "web", APP), generated("web-a", POD, APP)]
    two = [*one, generated("web-b", OTHER_POD, APP)]

    assert found(one, two) == (
        "App default/web has 2 objects of kind Pod: web-a, web-b; expected 1",
    )


def test_an_object_whose_owner_does_not_exist_is_an_orphan() -> None:
    app = thing("App", "web", APP)
    child = thing("Note", "of", POD, owner=OTHER_APP)

    assert found([app], [app, child])[0] == ("Note default/of belongs to App web, which is gone")


def test_the_outside_system_is_compared() -> None:
    app = thing("App", "web", APP)

    one = state_of([app], outside={"buckets": {APP: 1}})
    same = state_of([app], outside={"buckets": {APP: 1}})
    none = state_of([app], outside={"buckets": {}})

    assert differences(one, same) == ()
    assert differences(one, none) == (
        "outside the cluster: expected buckets.<uid of App default/web> 1, found none",
    )


def test_events_and_leases_are_not_part_of_the_state() -> None:
    events = [
        thing("Event", "web.1", POD),
        thing("Event", "web.2", POD) | {"apiVersion": "events.k8s.io/v1"},
        thing("Lease", "web", OTHER_POD) | {"apiVersion": "coordination.k8s.io/v1"},
    ]

    assert found([thing("App", "web", APP)], [thing("App", "web", APP), *events]) == ()


def test_a_custom_kind_named_event_is_compared() -> None:
    concert = thing("Event", "concert", POD) | {"apiVersion": "tickets.example.com/v1"}

    assert found([], [concert]) == ("Event default/concert: expected none, found 1",)


def test_versions_and_times_within_a_status_make_no_difference() -> None:
    def run(version: str, time: str) -> Any:
        active = [{"kind": "Job", "name": "web", "uid": POD, "resourceVersion": version}]
        return [thing("App", "web", APP, status={"active": active, "note": f"since {time}"})]

    one = run("17", "2030-01-01 00:00:01.250000+00:00")
    two = run("4", "2030-01-01T00:00:00+0000")

    assert found(one, two) == ()


def test_only_the_first_differences_are_listed() -> None:
    lines = as_lines([str(number) for number in range(10)])

    assert lines[0] == "0"
    assert lines[-1] == "and 4 more"
