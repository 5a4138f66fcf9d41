"""A server that rejects requests with Retry-After."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count

import pytest

from steersman.client import Client, Impersonation, RetryPolicy, has_condition, wait_for
from steersman.errors import TooLargeResourceVersion, TooManyRequests
from steersman.kinds import core_v1, flowcontrol_v1, meta_v1, rbac_v1
from steersman.observe import RequestRetried
from steersman_cluster.testing import RealControlPlane
from tests.real.objects import config_map
from tests.real.recording_observer import RecordingObserver

RBAC = "rbac.authorization.k8s.io"
ADA = Impersonation(user="ada")


@pytest.fixture
async def one_at_a_time_for_ada(client: Client, namespace: str) -> AsyncIterator[None]:
    """The server handles one request of ada at a time and rejects the others."""
    await client.create(
        rbac_v1.RoleBinding(
            metadata=meta_v1.ObjectMeta(name="ada", namespace=namespace),
            role_ref=rbac_v1.RoleRef(api_group=RBAC, kind="ClusterRole", name="cluster-admin"),
            subjects=(rbac_v1.Subject(api_group=RBAC, kind="User", name=ADA.user),),
        )
    )
    meta = meta_v1.ObjectMeta(name=f"ada-{namespace}")
    await client.create(
        flowcontrol_v1.PriorityLevelConfiguration(
            metadata=meta,
            spec=flowcontrol_v1.PriorityLevelConfigurationSpec(
                type="Limited",
                limited=flowcontrol_v1.LimitedPriorityLevelConfiguration(
                    nominal_concurrency_shares=0,
                    borrowing_limit_percent=0,
                    limit_response=flowcontrol_v1.LimitResponse(type="Reject"),
                ),
            ),
        )
    )
    everything = flowcontrol_v1.ResourcePolicyRule(
        api_groups=("*",), resources=("*",), namespaces=("*",), verbs=("*",)
    )
    ada = flowcontrol_v1.Subject(kind="User", user=flowcontrol_v1.UserSubject(name=ADA.user))
    await client.create(
        flowcontrol_v1.FlowSchema(
            metadata=meta,
            spec=flowcontrol_v1.FlowSchemaSpec(
                matching_precedence=100,
                priority_level_configuration=flowcontrol_v1.PriorityLevelConfigurationReference(
                    name=f"ada-{namespace}"
                ),
                rules=(
                    flowcontrol_v1.PolicyRulesWithSubjects(
                        subjects=(ada,), resource_rules=(everything,)
                    ),
                ),
            ),
        )
    )
    await wait_for(
        client,
        flowcontrol_v1.FlowSchema,
        f"ada-{namespace}",
        has_condition("Dangling", "False"),
        within_seconds=20.0,
    )
    yield
    await client.delete(flowcontrol_v1.FlowSchema, f"ada-{namespace}")
    await client.delete(flowcontrol_v1.PriorityLevelConfiguration, f"ada-{namespace}")


@asynccontextmanager
async def busy(client: Client, namespace: str, plane: RealControlPlane) -> AsyncIterator[None]:
    """During the block, the server processes ada's request for a far-future resource version.

    The request times out after some seconds and is sent again. In between, the server may accept
    another request.
    """
    ada = client.with_settings(impersonate=ADA, retry=RetryPolicy(attempts=1))

    async def list_repeatedly() -> None:
        while True:
            with suppress(TooLargeResourceVersion, TooManyRequests):
                await ada.list(
                    core_v1.ConfigMap,
                    namespace=namespace,
                    resource_version=str(2**62),
                    resource_version_match="NotOlderThan",
                )

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(list_repeatedly(), name="pending list of ada")
        while not await asyncio.to_thread(is_served, f"ada-{namespace}", plane):
            pass
        yield
        waiting.cancel()


def is_served(priority_level: str, plane: RealControlPlane) -> bool:
    with plane.caller() as api:
        dump = api.call("GET", "/debug/api_priority_and_fairness/dump_priority_levels").body
    rows = csv.DictReader(io.StringIO(dump.decode()), skipinitialspace=True)
    executing = {row["PriorityLevelName"]: row["ExecutingRequests"] for row in rows}
    return executing.get(priority_level) == "1"


async def test_a_429_response_has_a_retry_after_header(
    client: Client, control_plane: RealControlPlane, namespace: str, one_at_a_time_for_ada: None
) -> None:
    ada = client.with_settings(impersonate=ADA, retry=RetryPolicy(attempts=1))

    async def list_until_rejected() -> None:
        while True:
            await ada.list(core_v1.ConfigMap, namespace=namespace)

    async with busy(client, namespace, control_plane):
        with pytest.raises(TooManyRequests) as rejected:
            await list_until_rejected()

    assert rejected.value.retry_after_seconds == 1


async def test_a_write_with_a_429_response_is_retried_after_the_requested_delay(
    client: Client,
    control_plane: RealControlPlane,
    namespace: str,
    one_at_a_time_for_ada: None,
    seen: RecordingObserver,
) -> None:
    ada = client.with_settings(impersonate=ADA)
    names = (f"settings-{number}" for number in count())

    async def first_retry() -> RequestRetried:
        while not (found := [each for each in seen.of(RequestRetried) if each.verb == "create"]):
            await seen.more()
        return found[0]

    async with asyncio.TaskGroup() as group:
        async with busy(client, namespace, control_plane):
            retried = group.create_task(first_retry(), name="wait for a retry")
            while True:
                creation = group.create_task(ada.create(config_map(namespace, next(names))))
                await asyncio.wait((retried, creation), return_when=asyncio.FIRST_COMPLETED)
                if retried.done():
                    break

    assert retried.result().wait_seconds > 1
    listing = await client.list(core_v1.ConfigMap, namespace=namespace)
    assert creation.result() in listing.items
