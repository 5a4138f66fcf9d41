"""The part of an object that is applied."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from steersman.controller.writer.apply_bodies import status_to_send, to_apply, with_preconditions
from steersman.kinds import Codec, CustomResource, Part, Unstructured, apps_v1, meta_v1, replace

OURS = "example.com/us"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
AnyDeployment = Unstructured.of("apps/v1", "Deployment")


def sent(obj: Any) -> Any:
    return msgspec.json.decode(Codec().encode(obj))


def read() -> apps_v1.Deployment:
    """The object as the server returned it."""
    entry = meta_v1.ManagedFieldsEntry(manager="us", fields_v1=msgspec.Raw(b"{}"))
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(
            name="web",
            namespace="here",
            uid="1",
            resource_version="2",
            generation=3,
            creation_timestamp=NOW,
            deletion_timestamp=NOW,
            deletion_grace_period_seconds=0,
            self_link="/",
            labels={"a": "b"},
            managed_fields=(entry,),
            finalizers=("example.com/them", OURS),
        ),
        status=apps_v1.DeploymentStatus(replicas=1),
    )


def untyped(obj: Any) -> Any:
    return AnyDeployment(sent(obj))


def same(obj: Any) -> Any:
    return obj


FORMS = pytest.mark.parametrize("form", [same, untyped])


@FORMS
def test_fields_that_the_server_sets_are_left_out(form: Any) -> None:
    assert sent(to_apply(form(read()), finalizer=OURS)) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "here",
            "labels": {"a": "b"},
            "finalizers": ["example.com/them"],
        },
    }


def test_a_new_object_is_sent_unchanged() -> None:
    obj = apps_v1.Deployment(metadata=meta_v1.ObjectMeta(name="web", finalizers=("a.b/c",)))

    assert to_apply(obj, finalizer=OURS) is obj


@FORMS
def test_the_given_object_is_not_changed(form: Any) -> None:
    obj = form(read())

    to_apply(obj, finalizer=OURS)

    assert obj == form(read())


@FORMS
def test_an_applied_object_carries_its_uid_or_version(form: Any) -> None:
    bare = to_apply(form(read()), finalizer=OURS)

    assert sent(with_preconditions(bare, uid="1"))["metadata"]["uid"] == "1"
    assert sent(with_preconditions(bare, version="2"))["metadata"]["resourceVersion"] == "2"
    assert with_preconditions(bare) is bare


class Size(Part):
    size: int = 1


class Sized(CustomResource[Size, Size], group="example.com", version="v1"):
    status: Size = Size()


def test_a_status_that_its_class_requires_is_kept() -> None:
    body = Sized(metadata=meta_v1.ObjectMeta(name="a", uid="1"), spec=Size())

    assert sent(to_apply(body, finalizer=OURS))["status"] == {"size": 1}


@FORMS
def test_a_status_is_sent_with_the_identity_of_its_object_only(form: Any) -> None:
    status = apps_v1.DeploymentStatus(replicas=2)
    head = {"apiVersion": "apps/v1", "kind": "Deployment"}

    assert sent(status_to_send(form(read()), status)) == {
        **head,
        "metadata": {"name": "web", "namespace": "here"},
        "status": {"replicas": 2},
    }
    nowhere = replace(read(), metadata=meta_v1.ObjectMeta(name="web"))
    assert sent(status_to_send(nowhere, {"replicas": 2})) == {
        **head,
        "metadata": {"name": "web"},
        "status": {"replicas": 2},
    }
