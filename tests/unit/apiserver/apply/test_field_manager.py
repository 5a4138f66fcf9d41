"""The effect of creates, updates and applies on managedFields."""

import copy
from typing import Any

import pytest

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.apply import FieldManager, keep_times
from steersman_cluster.apiserver.apply.managed_fields import ANCIENT, MAX_UPDATERS
from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.unit.apiserver.apply.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    LATER,
    NOW,
    ZOO,
    ZOO_SCHEMA,
    Object,
    config_map,
    fields,
    managing,
    owned,
    zoo,
)

MAPS = managing(CONFIG_MAP)
ZOOS = managing(ZOO, status={})


def created(obj: Object, *, by: str = "author", in_: FieldManager = MAPS) -> Object:
    in_.update(None, obj, manager=by, time=NOW)
    obj["metadata"]["uid"] = "7"
    return obj


def updated(live: Object, *, by: str, in_: FieldManager = MAPS, **changes: Any) -> Object:
    new = copy.deepcopy(live) | changes
    in_.update(live, new, manager=by, time=LATER)
    return new


def applied(
    live: Object | None,
    configuration: Object,
    *,
    by: str,
    force: bool = False,
    in_: FieldManager = MAPS,
) -> Object:
    return in_.apply(live, configuration, manager=by, force=force, time=LATER)


def rejected(
    live: Object | None, configuration: Object, *, in_: FieldManager = MAPS
) -> StatusError:
    with pytest.raises(StatusError) as caught:
        applied(live, configuration, by="other", in_=in_)
    return caught.value


def test_a_creator_owns_the_given_fields_except_the_identity_of_the_object() -> None:
    live = created(config_map(color="red"))

    assert live["metadata"]["managedFields"] == [
        {
            "manager": "author",
            "operation": "Update",
            "apiVersion": "v1",
            "time": NOW,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:color": {}}},
        }
    ]


def test_an_implicit_struct_has_no_manager() -> None:
    spec = {"strategy": {"type": "Recreate"}, "template": {"spec": {"dnsPolicy": "Default"}}}
    live = {"metadata": {"name": "it"}, "spec": spec, "status": {"replicas": 1}}

    managing(DEPLOYMENT, status={}).update(None, live, manager="author", time=NOW)

    assert owned(live) == {
        "author": {
            "f:spec": {
                "f:strategy": {"f:type": {}},
                "f:template": {"f:spec": {"f:dnsPolicy": {}}},
            }
        }
    }


def test_a_manager_that_changes_a_field_becomes_its_owner() -> None:
    live = created(config_map(color="red", size="7"))

    after = updated(live, by="other", data={"color": "blue", "size": "7"})

    assert owned(after) == {
        "author": {"f:data": {".": {}, "f:size": {}}},
        "other": fields("color"),
    }


def test_a_removed_field_has_no_manager() -> None:
    live = created(config_map(color="red", size="7"))

    after = updated(live, by="other", data={"size": "7"})

    assert owned(after) == {"author": {"f:data": {".": {}, "f:size": {}}}}


def test_an_update_without_changes_keeps_every_entry_and_its_time() -> None:
    live = created(config_map(color="red"))

    after = updated(live, by="other")

    assert after == live


def test_cleared_entries_stay_empty_until_the_next_apply() -> None:
    live = created(config_map(color="red"))

    cleared = updated(live, by="other", metadata={**live["metadata"], "managedFields": []})
    changed = updated(cleared, by="other", data={"color": "blue"})
    again = applied(changed, config_map(size="7"), by="third")

    assert owned(cleared) == owned(changed) == {}
    assert owned(again) == {
        "third*": fields("size"),
        "before-first-apply": {"f:data": {".": {}, "f:color": {}}},
    }


@pytest.mark.parametrize(
    "nonsense",
    [
        [{"operation": "Steal", "apiVersion": "v1", "fieldsType": "FieldsV1"}],
        [{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2"}],
        [{"operation": "Update", "apiVersion": "", "fieldsType": "FieldsV1"}],
        [{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "manager": []}],
        [{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": 7}],
        [
            {
                "operation": "Update",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"x": {}},
            }
        ],
        ["x"],
        7,
    ],
)
def test_invalid_managed_fields_in_an_update_are_ignored(nonsense: Any) -> None:
    live = created(config_map(color="red"))

    metadata = {**live["metadata"], "managedFields": nonsense}

    assert updated(live, by="other", metadata=metadata) == live


def test_managed_fields_in_a_subresource_update_are_ignored() -> None:
    status = managing(ZOO, subresource="status", spec={}, metadata={})
    live = created(zoo(queue=["a"]), in_=ZOOS)

    metadata = {**live["metadata"], "managedFields": []}
    after = updated(live, by="other", in_=status, metadata=metadata, status={"phase": "Open"})

    assert owned(after) == {
        "author": {"f:spec": {".": {}, "f:queue": {}}},
        "other": {"f:status": {".": {}, "f:phase": {}}},
    }
    assert after["metadata"]["managedFields"][1]["subresource"] == "status"


def test_a_manager_does_not_own_reset_fields() -> None:
    live = created({**zoo(queue=["a"]), "status": {"phase": "New"}}, in_=ZOOS)

    assert owned(live) == {"author": {"f:spec": {".": {}, "f:queue": {}}}}


def test_an_object_with_indistinguishable_items_has_no_managed_fields() -> None:
    live = created(zoo(colors=[None]), in_=ZOOS)

    assert owned(live) == {}


def test_the_oldest_update_entries_are_merged_when_there_are_too_many() -> None:
    live = created(config_map(color="red"))
    for number in range(MAX_UPDATERS + 2):
        live = updated(live, by=f"m{number:02}", data={**live["data"], f"k{number:02}": "x"})

    owners = owned(live)

    assert len(owners) == MAX_UPDATERS
    assert owners[ANCIENT] == {
        "f:data": {".": {}, "f:color": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}}
    }


def test_entries_of_a_version_that_is_no_longer_served_are_removed() -> None:
    live = created(config_map(color="red"))
    live["metadata"]["managedFields"][0]["apiVersion"] = "v0"

    after = updated(live, by="other", data={"color": "blue"})

    assert owned(after) == {}


def test_an_applier_owns_the_applied_fields_but_not_their_parents() -> None:
    live = applied(
        None, zoo(part={"a": 1}, labels={"x": "y"}, free={"m": {"n": 1}}), by="a", in_=ZOOS
    )

    assert owned(live) == {
        "a*": {
            "f:spec": {
                "f:free": {"f:m": {".": {}, "f:n": {}}},
                "f:labels": {"f:x": {}},
                "f:part": {"f:a": {}},
            }
        }
    }


def test_managers_that_apply_the_same_value_share_the_field() -> None:
    live = applied(None, config_map(color="red"), by="a")

    both = applied(live, config_map(color="red"), by="b")

    assert owned(both) == {"a*": fields("color"), "b*": fields("color")}
    assert both["metadata"]["managedFields"][0].get("time") is None


def test_an_apply_to_a_field_of_another_manager_is_a_conflict_that_names_manager_and_field() -> (
    None
):
    live = created(config_map(color="red"))

    rejection = rejected(live, config_map(color="blue"))

    assert rejection.code == 409
    assert rejection.message == (
        'Apply failed with 1 conflict: conflict with "author" using v1: .data.color'
    )
    assert rejection.status()["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "author" using v1',
            "field": ".data.color",
        }
    ]


def test_conflicts_are_grouped_by_manager() -> None:
    first = zoo(animals=[{"name": "tom", "legs": 4}], colors=["red"], part={"a": 1})
    live = applied(None, first, by="b", in_=ZOOS)
    live = updated(live, by="a", in_=ZOOS, spec={**live["spec"], "queue": ["x"]})

    second = zoo(animals=[{"name": "tom", "legs": 3}], part={"a": 2}, queue=["y"])
    rejection = rejected(live, second, in_=ZOOS)

    assert rejection.message == (
        'Apply failed with 3 conflicts: conflicts with "a" using example.com/v1:\n'
        "- .spec.queue\n"
        'conflicts with "b":\n'
        '- .spec.animals[kind="cat",name="tom"].legs\n'
        "- .spec.part.a"
    )


def test_a_forced_apply_takes_ownership_of_conflicting_fields() -> None:
    live = created(config_map(color="red", size="7"))

    after = applied(live, config_map(color="blue"), by="other", force=True)

    assert after["data"] == {"color": "blue", "size": "7"}
    assert owned(after) == {
        "other*": fields("color"),
        "author": {"f:data": {".": {}, "f:size": {}}},
    }


def test_a_field_that_its_only_applier_no_longer_applies_is_removed() -> None:
    live = applied(
        None, zoo(animals=[{"name": "tom"}, {"name": "bob"}], part={"a": 1}), by="a", in_=ZOOS
    )

    after = applied(live, zoo(animals=[{"name": "bob"}]), by="a", in_=ZOOS)

    assert after["spec"] == {"animals": [{"name": "bob"}]}


def test_a_field_stays_while_another_manager_applies_it() -> None:
    live = applied(None, config_map(color="red", size="7"), by="a")
    live = applied(live, config_map(color="red"), by="b")

    after = applied(live, config_map(), by="a")

    assert after["data"] == {"color": "red"}
    assert owned(after) == {"b*": fields("color")}


def test_an_apply_that_changes_nothing_returns_the_live_object_itself() -> None:
    live = applied(None, config_map(color="red"), by="a")

    assert applied(live, config_map(color="red"), by="a") is live


def test_the_integer_1_and_true_are_different_values() -> None:
    live = applied(None, zoo(free={"x": 1}), by="a", in_=ZOOS)

    after = applied(live, zoo(free={"x": True}), by="a", in_=ZOOS)
    again = updated(after, by="b", in_=ZOOS, spec={"free": {"x": 1}})

    assert after["spec"]["free"]["x"] is True
    assert owned(again) == {"b": {"f:spec": {"f:free": {"f:x": {}}}}}


def test_the_live_object_is_never_modified() -> None:
    live = created(zoo(animals=[{"name": "tom", "toys": {"a": "b"}}]), in_=ZOOS)
    before = copy.deepcopy(live)

    after = applied(live, zoo(animals=[{"name": "tom", "legs": 4}]), by="other", in_=ZOOS)
    after["spec"]["animals"][0]["toys"]["a"] = "c"
    updated(live, by="third", in_=ZOOS, spec={"queue": []})

    assert live == before


@pytest.mark.parametrize(
    ("configuration", "code", "message"),
    [
        ({**zoo(), "kind": "Farm"}, 400, "invalid object type: example.com/v1, Kind=Farm"),
        ({**zoo(), "apiVersion": "v1"}, 400, "invalid object type: /v1, Kind=Zoo"),
        ({}, 400, "invalid object type: /, Kind="),
        (
            {**zoo(), "metadata": {"managedFields": []}},
            400,
            "metadata.managedFields must be nil",
        ),
        (
            zoo(fence=True),
            500,
            "failed to create typed patch object (/it; example.com/v1, Kind=Zoo):"
            " .spec.fence: field not declared in schema",
        ),
        (
            zoo(part={"a": "1", "b": True}),
            500,
            "failed to create typed patch object (/it; example.com/v1, Kind=Zoo): errors:\n"
            "  .spec.part.a: expected numeric (int or float), got string\n"
            "  .spec.part.b: expected numeric (int or float), got bool",
        ),
    ],
)
def test_an_invalid_configuration_is_rejected(
    configuration: Object, code: int, message: str
) -> None:
    rejection = rejected(None, configuration, in_=ZOOS)

    assert (rejection.code, rejection.message) == (code, message)


def test_a_live_object_that_cannot_be_split_into_fields_is_an_internal_error() -> None:
    live = created(zoo(colors=[None]), in_=ZOOS)

    assert rejected(live, zoo(part={"a": 1}), in_=ZOOS).code == 500


def test_the_fields_of_a_map_that_became_atomic_are_replaced_by_the_map() -> None:
    live = applied(None, zoo(labels={"x": "y"}, animals=[{"name": "tom"}]), by="a", in_=ZOOS)
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:block"] = {"f:a": {}}
    live["spec"]["block"] = {"a": 1}

    after = updated(live, by="b", in_=ZOOS, spec={**live["spec"], "part": {"a": 1}})

    assert owned(after)["a*"]["f:spec"] == {
        "f:animals": {'k:{"kind":"cat","name":"tom"}': {".": {}, "f:name": {}}},
        "f:block": {},
        "f:labels": {"f:x": {}},
    }


def test_an_applier_keeps_its_fields_in_another_version() -> None:
    newer = FieldManager(
        gvk=type(ZOO)(group="example.com", version="v2", kind="Zoo"),
        schemas={"example.com/v1": ZOO_SCHEMA, "example.com/v2": ZOO_SCHEMA},
    )
    live = applied(None, zoo(part={"a": 1}, queue=["x"]), by="a", in_=ZOOS)

    after = applied(live, {**zoo(part={"a": 2}), "apiVersion": "example.com/v2"}, by="a", in_=newer)

    assert after["spec"] == {"part": {"a": 2}}
    [entry] = after["metadata"]["managedFields"]
    assert entry["apiVersion"] == "example.com/v2"


def test_an_object_may_be_applied_in_a_version_other_than_its_stored_one() -> None:
    live = applied(None, config_map(color="red"), by="a")
    kept = {**live, "apiVersion": "v0"}

    assert applied(kept, config_map(color="red"), by="a") is kept


def test_kubectl_takes_over_the_fields_of_its_client_side_apply() -> None:
    note = "kubectl.kubernetes.io/last-applied-configuration"
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it"},"data":{"color":"red"}}'
    live = config_map(color="red", size="7")
    live["metadata"]["annotations"] = {note: text}
    live = created(live, by="kubectl-client-side-apply")

    after = applied(live, config_map(color="blue"), by="kubectl")

    assert after["data"] == {"color": "blue", "size": "7"}
    assert after["metadata"]["annotations"][note] == (
        '{"apiVersion":"v1","data":{"color":"blue"},"kind":"ConfigMap","metadata":{"name":"it"}}\n'
    )
    with pytest.raises(StatusError):
        applied(live, config_map(size="8"), by="kubectl")


@pytest.mark.parametrize("bare", [{}, {"metadata": None}, {"metadata": {"annotations": None}}])
def test_a_configuration_may_be_empty(bare: Object) -> None:
    applied_once = applied(None, {"apiVersion": "v1", "kind": "ConfigMap", **bare}, by="kubectl")

    assert set(owned(applied_once)) <= {"kubectl*"}


def test_the_time_of_an_entry_is_kept_if_nothing_else_differs() -> None:
    live = created(config_map(color="red"))
    touched = copy.deepcopy(live)
    touched["metadata"]["managedFields"][0]["time"] = LATER
    changed: Object = copy.deepcopy(touched) | {"data": {"color": "blue"}}

    keep_times(live, touched)
    keep_times(live, changed)

    assert touched == live
    assert changed["metadata"]["managedFields"][0]["time"] == LATER


def renamed(obj: Object, api_version: str) -> Object:
    """Convert a Zoo whose field ``a`` is named ``b`` in the second version."""
    values = list(obj.get("spec", {}).get("part", {}).values())
    name = "a" if api_version == "example.com/v1" else "b"
    spec = {"part": {name: values[0]}} if values else {}
    return {**obj, "apiVersion": api_version, "spec": {**obj.get("spec", {}), **spec}}


def test_an_update_in_one_version_takes_ownership_of_a_field_in_another() -> None:
    schemas = {"example.com/v1": ZOO_SCHEMA, "example.com/v2": ZOO_SCHEMA}
    first, second = (
        FieldManager(
            gvk=GroupVersionKind(ZOO.group, each, ZOO.kind), schemas=schemas, convert=renamed
        )
        for each in ("v1", "v2")
    )
    live = renamed(created(zoo(part={"a": 1}, queue=["x"]), in_=first), "example.com/v2")

    other_field = updated(live, by="other", in_=second, spec={**live["spec"], "labels": {"c": "d"}})
    same_field = updated(live, by="other", in_=second, spec={**live["spec"], "part": {"b": 2}})

    assert owned(other_field)["author"]["f:spec"]["f:part"] == {".": {}, "f:a": {}}
    assert "f:a" not in owned(same_field)["author"]["f:spec"]["f:part"]
    assert owned(same_field)["other"] == {"f:spec": {"f:part": {"f:b": {}}}}


def test_fields_are_owned_in_the_version_of_the_request() -> None:
    management = FieldManager(gvk=ZOO, schemas={"example.com/v1": ZOO_SCHEMA}, convert=renamed)

    live = created(zoo(part={"b": 1}), in_=management)

    assert owned(live)["author"] == {"f:spec": {".": {}, "f:part": {".": {}, "f:a": {}}}}
    assert live["spec"] == {"part": {"b": 1}}
