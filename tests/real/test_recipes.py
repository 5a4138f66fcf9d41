"""The API server accepts the objects of the recipes."""

import pytest

from steersman.client import Client
from steersman.kinds import Resource, core_v1, recipes, replace

WEB = core_v1.Container(name="web", image="nginx")
HTTP = core_v1.ServicePort(name="http", port=80)

OBJECTS = (
    recipes.deployment("web", WEB, replicas=None, labels={"tier": "front"}),
    recipes.stateful_set("web", WEB, claims=[recipes.pvc("data", "1Gi")]),
    recipes.daemon_set("web", WEB),
    recipes.pod("web", WEB, pod=core_v1.PodSpec(containers=(), service_account_name="web")),
    recipes.job("web", WEB, backoff_limit=0, keep_seconds=60),
    recipes.cron_job("w" * 52, "@daily", WEB, concurrency_policy="Forbid"),
    recipes.service("web", (HTTP,), type="NodePort"),
    recipes.service("several", (HTTP, core_v1.ServicePort(name="https", port=443))),
    recipes.service("headless", (), headless=True),
    recipes.ingress("web", host="a.example.com", tls_secret="tls", port="http"),
    recipes.config_map("web", {"a.conf": ""}),
    recipes.secret("web", {"key": b"\x00", "text": "ä"}),
    recipes.service_account("web", mounts_token=False),
    recipes.pvc("web", "1Gi", storage_class="fast"),
)


def in_namespace(obj: Resource, namespace: str) -> Resource:
    return replace(obj, metadata=replace(obj.metadata, namespace=namespace))


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: obj.ref)
async def test_the_server_accepts_a_recipes_object_and_a_second_apply_changes_nothing(
    client: Client, namespace: str, obj: Resource
) -> None:
    # Without kube-controller-manager, the Pods' service accounts do not exist.
    await client.apply(recipes.service_account("web", namespace=namespace), field_manager="other")
    await client.apply(
        recipes.service_account("default", namespace=namespace), field_manager="other"
    )

    await client.apply(in_namespace(obj, namespace), field_manager="me")
    # kube-apiserver writes a claim again, although the second apply does not change it.
    second = await client.apply(in_namespace(obj, namespace), field_manager="me")
    third = await client.apply(in_namespace(obj, namespace), field_manager="me")

    assert third.resource_version == second.resource_version


async def test_a_key_that_a_later_apply_omits_is_removed_from_the_secret(
    client: Client, namespace: str
) -> None:
    both = recipes.secret("web", {"old": "a", "new": "b"}, namespace=namespace)
    await client.apply(both, field_manager="me")

    one = recipes.secret("web", {"new": "b"}, namespace=namespace)
    left = await client.apply(one, field_manager="me")

    assert left.data == {"new": b"b"}
