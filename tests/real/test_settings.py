"""Client settings: dry run, field validation, impersonation, warnings."""

import pytest

from steersman.client import Client, Impersonation, MergePatch
from steersman.errors import ApiError, BadRequest, Forbidden, Invalid, InvalidResponse
from steersman.kinds import (
    Unstructured,
    authentication_v1,
    authorization_v1,
    core_v1,
    meta_v1,
    rbac_v1,
)
from steersman.observe import ApiWarned
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.definitions import DEPRECATION, OldWidget, Widget, any_widget, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps
from tests.real.recording_observer import RecordingObserver

AnyDeployment = Unstructured.of("apps/v1", "Deployment")


def with_unknown_field(namespace: str) -> Unstructured:
    """A Deployment with an unknown field."""
    labels = {"app": "web"}
    pod = {"containers": [{"name": "main", "image": "example.com/main:1"}]}
    return AnyDeployment(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {
                "replicsa": 3,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }
    )


def warnings(seen: RecordingObserver) -> list[str]:
    return [each.text for each in seen.of(ApiWarned)]


async def whoami(client: Client) -> authentication_v1.UserInfo:
    review = await client.create(authentication_v1.SelfSubjectReview())
    assert review.status is not None
    assert review.status.user_info is not None
    return review.status.user_info


# Dry run


async def test_a_dry_run_client_changes_nothing(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "existing")
    before = await client.list(core_v1.ConfigMap, namespace=namespace)
    dry_run_client = client.with_settings(dry_run=True)
    change = MergePatch({"data": {"color": "blue"}})
    existing = await client.get(AnyConfigMap, "existing", namespace=namespace)

    created = await dry_run_client.create(config_map(namespace, "created", color="blue"))
    applied = await dry_run_client.apply(config_map(namespace, "applied"), field_manager="us")
    patched = await dry_run_client.patch(core_v1.ConfigMap, "existing", change, namespace=namespace)
    updated = await dry_run_client.update(existing.changed("data", to={"color": "red"}))
    await dry_run_client.delete(core_v1.ConfigMap, "existing", namespace=namespace)
    await dry_run_client.delete_all(core_v1.ConfigMap, namespace=namespace)

    assert (created.name, applied.name) == ("created", "applied")
    assert patched.data == {"color": "blue"}
    assert updated.get("data", "color") == "red"
    after = await client.list(core_v1.ConfigMap, namespace=namespace)
    assert after.items == before.items


async def test_a_single_call_can_be_a_dry_run(client: Client, namespace: str) -> None:
    created = await client.create(config_map(namespace, "settings"), dry_run=True)
    applied = await client.apply(
        config_map(namespace, "settings"), field_manager="us", dry_run=True
    )

    assert created.uid
    assert applied.uid
    assert (await client.list(core_v1.ConfigMap, namespace=namespace)).items == ()


async def test_a_single_call_of_a_dry_run_client_can_be_a_real_write(
    client: Client, namespace: str
) -> None:
    dry_run_client = client.with_settings(dry_run=True)

    created = await dry_run_client.create(config_map(namespace, "settings"), dry_run=False)

    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == created


# Field validation


async def test_an_unknown_field_is_rejected_by_name(client: Client, namespace: str) -> None:
    with pytest.raises(BadRequest, match=r'unknown field "spec.replicsa"'):
        await client.create(with_unknown_field(namespace))

    assert (await client.list(AnyDeployment, namespace=namespace)).items == ()


async def test_a_patch_with_an_unknown_field_is_rejected_by_name(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(widget(namespace, "one"))

    with pytest.raises(Invalid, match=r'unknown field "spec.sizze"'):
        await client.patch(Widget, "one", MergePatch({"spec": {"sizze": 3}}), namespace=namespace)


async def test_an_apply_with_an_unknown_field_is_rejected_by_name(
    client: Client, namespace: str, widgets: None
) -> None:
    # kube-apiserver responds with status 500.
    with pytest.raises(ApiError, match=r"\.spec\.sizze: field not declared in schema"):
        await client.apply(any_widget(namespace, "one", sizze=3), field_manager="us")


async def test_a_client_can_get_a_warning_for_an_unknown_field(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    lenient = client.with_settings(field_validation="Warn")

    created = await lenient.create(with_unknown_field(namespace))

    assert warnings(seen) == ['unknown field "spec.replicsa"']
    assert created.get("spec", "replicsa") is None


async def test_a_client_can_ignore_an_unknown_field(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    ignoring = client.with_settings(field_validation="Ignore")

    created = await ignoring.create(with_unknown_field(namespace))

    assert warnings(seen) == []
    assert created.get("spec", "replicsa") is None


# Impersonation


async def test_a_client_impersonates_a_user_with_groups_and_extras(
    client: Client,
) -> None:
    ada = Impersonation(
        user="ada",
        uid="7",
        groups=("engineers", "team: grün"),
        extra={"example.com/Reason": ("tests", "curiosity"), "scopes": ("all",)},
    )

    user = await whoami(client.with_settings(impersonate=ada))

    assert (user.username, user.uid) == ("ada", "7")
    assert user.groups == ("engineers", "team: grün", "system:authenticated")
    assert user.extra is not None
    assert user.extra["example.com/reason"] == ("tests", "curiosity")
    assert user.extra["scopes"] == ("all",)


async def test_impersonation_of_an_adjusted_client_does_not_affect_the_first(
    client: Client,
) -> None:
    other = client.with_settings(impersonate=Impersonation(user="ada"))

    assert (await whoami(other)).username == "ada"
    assert (await whoami(client)).username == "admin"


async def test_a_request_forbidden_to_the_impersonated_user_is_forbidden(
    client: Client, namespace: str
) -> None:
    ada = client.with_settings(impersonate=Impersonation(user="ada"))

    with pytest.raises(Forbidden) as rejected:
        await ada.get(core_v1.Secret, "key", namespace=namespace)

    assert (rejected.value.code, rejected.value.reason) == (403, "Forbidden")
    assert 'User "ada" cannot get resource "secrets"' in rejected.value.message
    assert "Grant this verb" in str(rejected.value)


async def may_read(client: Client, namespace: str) -> bool:
    wanted = authorization_v1.ResourceAttributes(
        namespace=namespace, verb="get", resource="configmaps", name="settings"
    )
    spec = authorization_v1.SelfSubjectAccessReviewSpec(resource_attributes=wanted)
    review = await client.create(authorization_v1.SelfSubjectAccessReview(spec=spec))
    return review.status is not None and review.status.allowed


async def test_an_impersonated_group_has_the_permissions_of_its_role(
    client: Client, namespace: str
) -> None:
    reading = rbac_v1.PolicyRule(api_groups=("",), resources=("configmaps",), verbs=("get",))
    meta = meta_v1.ObjectMeta(name="readers", namespace=namespace)
    await client.create(rbac_v1.Role(metadata=meta, rules=(reading,)))
    await client.create(
        rbac_v1.RoleBinding(
            metadata=meta,
            role_ref=rbac_v1.RoleRef(
                api_group="rbac.authorization.k8s.io", kind="Role", name="readers"
            ),
            subjects=(
                rbac_v1.Subject(
                    api_group="rbac.authorization.k8s.io", kind="Group", name="engineers"
                ),
            ),
        )
    )
    created = await client.create(config_map(namespace, "settings"))
    ada = client.with_settings(
        impersonate=Impersonation(user="ada", groups=("others", "engineers"))
    )
    # kube-apiserver's RBAC cache is updated with a delay.
    while not await may_read(ada, namespace):
        pass

    assert await ada.get(core_v1.ConfigMap, "settings", namespace=namespace) == created
    with pytest.raises(Forbidden):
        await ada.delete(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_impersonation_without_permission_is_forbidden(
    control_plane: RealControlPlane,
) -> None:
    token = control_plane.credentials.limited_token
    async with connected(control_plane, observe=lambda _: None, token=token) as limited:
        assert (await whoami(limited)).username == "limited"

        with pytest.raises(Forbidden, match='User "limited" cannot impersonate'):
            await whoami(limited.with_settings(impersonate=Impersonation(user="admin")))


# Warnings


async def test_a_deprecated_version_gets_a_warning(
    client: Client, namespace: str, widgets: None, seen: RecordingObserver
) -> None:
    await client.list(OldWidget, namespace=namespace)

    assert warnings(seen) == [DEPRECATION]
    (warned,) = seen.of(ApiWarned)
    assert (warned.verb, warned.resource) == ("list", "widgets")


async def test_a_current_version_gets_no_warning(
    client: Client, namespace: str, widgets: None, seen: RecordingObserver
) -> None:
    await client.list(Widget, namespace=namespace)

    assert warnings(seen) == []


# Other settings


async def test_the_user_agent_is_the_default_field_manager(client: Client, namespace: str) -> None:
    with_user_agent = client.with_settings(user_agent="our-operator/1.2")

    await with_user_agent.create(config_map(namespace, "settings", color="blue"))

    stored = await client.get(AnyConfigMap, "settings", namespace=namespace)
    assert [each["manager"] for each in stored.metadata["managedFields"]] == ["our-operator"]


async def test_lists_have_pages_of_the_configured_size(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    with_page_size = client.with_settings(page_size=2)

    pages = [page async for page in with_page_size.pages(core_v1.ConfigMap, namespace=namespace)]

    assert [len(page.items) for page in pages] == [2, 1]


async def test_a_response_over_the_size_limit_is_not_read(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "large", text="x" * 100_000))
    limited = client.with_settings(object_limit_bytes=10_000, page_limit_bytes=20_000)

    with pytest.raises(InvalidResponse, match="larger than 10000 bytes"):
        await limited.get(core_v1.ConfigMap, "large", namespace=namespace)
    with pytest.raises(InvalidResponse, match="larger than 20000 bytes"):
        await limited.list(core_v1.ConfigMap, namespace=namespace)
    async with limited.watch(core_v1.ConfigMap, namespace=namespace, initial_events=True) as events:
        with pytest.raises(InvalidResponse, match="longer than 10000 bytes"):
            await anext(events)
