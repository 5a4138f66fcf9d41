"""The last applied state of each object, and whether the object still has it."""

from typing import Any

import msgspec
import pytest

from steersman.controller.writer.applied_state import AppliedState, ApplyTarget, entry_of
from steersman.kinds import Codec, CustomResource, Part, Unstructured, apps_v1, core_v1, meta_v1
from steersman.names import ObjectKey

AnyDeployment = Unstructured.of("apps/v1", "Deployment")
KEY = ObjectKey("here", "web")
TARGET: ApplyTarget = (apps_v1.Deployment.resource_type.gvk, KEY, "")
STATUS: ApplyTarget = (*TARGET[:2], "status")
FIELDS = b'{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{}}}'
BODY = b'{"metadata":{"labels":{"app":"web"}},"spec":{"replicas":2}}'


def entry(**changes: Any) -> meta_v1.ManagedFieldsEntry:
    usual: dict[str, Any] = {"manager": "us", "operation": "Apply", "api_version": "apps/v1"}
    usual["fields_v1"] = msgspec.Raw(FIELDS)
    return meta_v1.ManagedFieldsEntry(**usual | changes)


def typed(
    version: str = "1",
    *,
    replicas: int = 2,
    labels: dict[str, str] | None = None,
    uid: str = "u",
    entries: tuple[meta_v1.ManagedFieldsEntry, ...] | None = None,
    ready: int | None = None,
    paused: bool | None = None,
) -> Any:
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(
            name="web",
            namespace="here",
            uid=uid,
            resource_version=version,
            labels={"app": "web", **(labels or {})},
            managed_fields=(entry(),) if entries is None else entries,
        ),
        spec=apps_v1.DeploymentSpec(
            replicas=replicas,
            paused=paused,
            selector=meta_v1.LabelSelector(),
            template=core_v1.PodTemplateSpec(),
        ),
        status=apps_v1.DeploymentStatus(ready_replicas=ready),
    )


def untyped(*args: Any, **rest: Any) -> Any:
    return AnyDeployment(msgspec.json.decode(Codec().encode(typed(*args, **rest))))


FORMS = pytest.mark.parametrize("form", [typed, untyped])


def remembered(form: Any) -> AppliedState:
    last = AppliedState("us")
    last.remember(TARGET, form(), BODY)
    return last


@FORMS
def test_a_target_without_an_apply_is_not_settled(form: Any) -> None:
    assert not AppliedState("us").is_settled(TARGET, form(entries=()), BODY)
    assert not remembered(form).is_settled(STATUS, form(), BODY)


@FORMS
def test_a_target_that_an_earlier_process_applied_is_settled(form: Any) -> None:
    last = AppliedState("us")

    assert last.is_settled(TARGET, form(), BODY)
    assert last.recall(TARGET) == remembered(form).recall(TARGET)


@FORMS
@pytest.mark.parametrize(
    "body",
    [
        b'{"metadata":{"labels":{"app":"web"}},"spec":{"replicas":3}}',
        b'{"metadata":{"labels":{"app":"web"}}}',
        b'{"metadata":{"labels":{"app":"web"}},"spec":{"replicas":2,"paused":true}}',
        b'{"metadata":{"labels":{"app":"web","new":"one"}},"spec":{"replicas":2}}',
        b'{"metadata":{"labels":{"app":"web"},"annotations":{"a":"b"}},"spec":{"replicas":2}}',
    ],
    ids=["another value", "one given up", "one more", "one more label", "an annotation"],
)
def test_another_body_of_an_earlier_process_is_not_settled(form: Any, body: bytes) -> None:
    last = AppliedState("us")

    assert not last.is_settled(TARGET, form(paused=True, labels={"new": "one"}), body)
    assert last.recall(TARGET) is None


@FORMS
def test_another_api_version_of_an_earlier_process_is_not_settled(form: Any) -> None:
    old = (entry(api_version="apps/v1beta1"),)

    assert not AppliedState("us").is_settled(TARGET, form(entries=old), BODY)


@FORMS
@pytest.mark.parametrize(
    "now",
    [
        {},
        {"version": "2", "ready": 1},
        {"version": "2", "labels": {"theirs": "yes"}},
        {"version": "2", "paused": True},
    ],
)
def test_a_target_is_settled_while_the_applied_fields_are_unchanged(
    form: Any, now: dict[str, Any]
) -> None:
    last = remembered(form)

    assert last.is_settled(TARGET, form(**now), BODY)
    assert last.is_settled(TARGET, form(**now), BODY)


@FORMS
def test_a_target_is_not_settled_between_a_request_and_its_response(form: Any) -> None:
    last = remembered(form)

    last.mark_uncertain(TARGET)

    assert not last.is_settled(TARGET, form(), BODY)
    last.remember(TARGET, form(), BODY)
    assert last.is_settled(TARGET, form(), BODY)


@FORMS
def test_a_forgotten_object_is_not_uncertain(form: Any) -> None:
    last = AppliedState("us")

    last.mark_uncertain(TARGET)
    last.mark_uncertain(STATUS)
    last.forget(*TARGET[:2])

    assert len(last) == 0
    assert last.is_settled(TARGET, form(), BODY)


@FORMS
@pytest.mark.parametrize(
    "now",
    [
        {"version": "2", "replicas": 3},
        {"version": "2", "labels": {"app": "other"}},
        {"version": "2", "entries": ()},
        {"version": "2", "entries": (entry(manager="them"),)},
        {"version": "2", "entries": (entry(operation="Update"),)},
        {"version": "2", "entries": (entry(subresource="status"),)},
        {"version": "2", "entries": (entry(fields_v1=msgspec.Raw(b'{"f:spec":{}}')),)},
        {"version": "2", "entries": (entry(api_version="apps/v2"),)},
        {"uid": "another", "replicas": 3},
    ],
)
def test_a_target_is_not_settled_once_an_applied_field_differs(
    form: Any, now: dict[str, Any]
) -> None:
    assert not remembered(form).is_settled(TARGET, form(**now), BODY)


@FORMS
def test_a_target_is_not_settled_for_another_body(form: Any) -> None:
    assert not remembered(form).is_settled(TARGET, form(), BODY.replace(b"2", b"3"))


@FORMS
def test_a_settled_version_is_not_compared_again(form: Any) -> None:
    last = remembered(form)
    later = form("2", labels={"theirs": "yes"})

    last.is_settled(TARGET, later, BODY)

    applied = last.recall(TARGET)
    assert applied is not None
    assert applied.obj is later


@FORMS
def test_the_status_is_remembered_separately(form: Any) -> None:
    fields = msgspec.Raw(b'{"f:status":{"f:readyReplicas":{}}}')
    both = (entry(), entry(subresource="status", fields_v1=fields))
    body = b'{"status":{"readyReplicas":1}}'
    last = AppliedState("us")
    last.remember(STATUS, form(ready=1, entries=both), body)

    assert last.is_settled(STATUS, form("2", ready=1, replicas=9, entries=both), body)
    assert not last.is_settled(STATUS, form("3", ready=2, entries=both), body)


@FORMS
def test_without_a_managed_fields_entry_nothing_is_remembered(form: Any) -> None:
    last = remembered(form)

    last.remember(TARGET, form(entries=()), BODY)

    assert len(last) == 0
    assert entry_of(form(entries=()), "us", "") is None


@FORMS
def test_a_deleted_object_is_forgotten(form: Any) -> None:
    last = remembered(form)
    status = (entry(subresource="status"),)
    last.remember(STATUS, form(entries=status), BODY)
    assert len(last) == 2

    last.forget(TARGET[0], KEY)

    assert len(last) == 0


@FORMS
def test_a_recreated_object_replaces_the_remembered_one(form: Any) -> None:
    last = remembered(form)

    last.is_settled(TARGET, form(uid="another", entries=()), BODY)

    assert len(last) == 0


def test_a_normalized_value_is_settled_until_another_field_changes() -> None:
    # The server turns "0.5" into "500m". The two count as different: an extra apply is harmless.
    body = BODY.replace(b"2", b'"2"')
    last = AppliedState("us")
    last.remember(TARGET, typed(), body)

    assert last.is_settled(TARGET, typed("2", ready=1), body)
    assert not last.is_settled(TARGET, typed("3", labels={"theirs": "yes"}), body)


class Switch(CustomResource[Part, Part], group="example.com", version="v1"):
    """A kind with a map of any values."""

    data: dict[str, Any] | None = None


def test_a_number_where_a_boolean_was_applied_is_not_settled_in_a_map_of_a_typed_object() -> None:
    target: ApplyTarget = (Switch.resource_type.gvk, KEY, "")
    held = msgspec.Raw(b'{"f:data":{"f:on":{}}}')
    ours = entry(api_version="example.com/v1", fields_v1=held)

    def switch(version: str, on: Any) -> Switch:
        meta = meta_v1.ObjectMeta(
            name="web", namespace="here", uid="u", resource_version=version, managed_fields=(ours,)
        )
        return Switch(metadata=meta, spec=Part(), data={"on": on})

    body = b'{"data":{"on":true}}'
    last = AppliedState("us")
    last.remember(target, switch("1", True), body)

    assert last.is_settled(target, switch("2", True), body)
    assert not last.is_settled(target, switch("3", 1), body)
