"""Manifests on a cluster: accepted, restricted, and sufficient for the operator."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

import steersman as sm
from steersman.client import Client
from steersman.clock import SystemClock
from steersman.controller import Watch
from steersman.errors import BadRequest, Forbidden, NotFound, SteersmanError
from steersman.kinds import (
    authorization_v1,
    core_v1,
    events_v1,
    meta_v1,
    networking_v1,
    rbac_v1,
)
from steersman.manager import needed_rules
from steersman.manager.endpoints.token_reviews import AccessDecision, TokenReviews
from steersman.manager.preflight import missing_permissions
from steersman.manifests import (
    Document,
    Installation,
    crd_tree,
    deploy_tree,
    parts_of,
    rbac_tree,
)
from steersman.observe import (
    ApiWarned,
    EventNotRecorded,
    PermissionMissing,
    RequestFinished,
    StageReached,
    ignore,
)
from steersman_cluster.testing import ControlPlane
from tests.examples import example_controllers
from tests.real.clients import connected
from tests.real.installations import apply, as_object, installed, remove, running_operator, until
from tests.real.recording_observer import RecordingObserver
from tests.real.rights import GROUP, new_account, token_for
from tests.unit.manifests.operators import ADDED

# API group, resource, resource name or "", verb.
Permission: TypeAlias = tuple[str, str, str, str]


GADGET_GROUP = "manifests.example.com"


class GadgetSpec(sm.Part):
    size: int = 1


class GadgetStatus(sm.Part):
    ready: int = 0


class Gadget(sm.CustomResource[GadgetSpec, GadgetStatus], group=GADGET_GROUP, version="v1"):
    """A kind whose operator calls every method of the context that sends a request."""


async def reconcile(obj: Gadget, ctx: sm.Context) -> sm.Outcome:
    """Call every method of the context that sends a request."""
    if obj.spec.size == 1:
        await ctx.apply_owned(core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="first")))
    second = meta_v1.ObjectMeta(name="second")
    await ctx.apply_owned(core_v1.ConfigMap(metadata=second, data={"size": str(obj.spec.size)}))
    await ctx.prune()
    await ctx.apply(service_of(obj))
    await ctx.live.get(core_v1.ServiceAccount, "other")
    assert ctx.list(core_v1.Secret) == []
    ctx.record("Made", f"size {obj.spec.size}")
    await ctx.apply_status(obj, GadgetStatus(ready=obj.spec.size))
    return sm.Done()


async def finalize(obj: Gadget, ctx: sm.Context) -> sm.Outcome:
    """Delete the Service, which has no owner reference."""
    await ctx.delete(service_of(obj))
    return sm.Done()


def service_of(obj: Gadget) -> core_v1.Service:
    return core_v1.Service(
        metadata=meta_v1.ObjectMeta(name=f"of-{obj.name}", namespace=obj.namespace),
        spec=core_v1.ServiceSpec(ports=(core_v1.ServicePort(port=80),)),
    )


GADGETS = sm.Controller(
    Gadget,
    reconcile=reconcile,
    finalize=finalize,
    owns=(sm.Owns(core_v1.ConfigMap, verbs=("create", "patch", "delete")),),
    watches=(Watch(core_v1.Secret),),
    reads=(core_v1.ServiceAccount,),
    writes=(sm.Writes(core_v1.Service, verbs=("create", "patch", "delete")),),
)


EXAMPLES = example_controllers()


def installation_of(
    controller: sm.Controller[Any], namespace: str, *namespaces: str
) -> Installation:
    """The operator, with a name that is unique to the test."""
    return Installation(
        name=f"op-{namespace}",
        controllers=(controller,),
        image="op:0.1.0",
        version="0.1.0",
        namespaces=namespaces,
    )


def gadget(namespace: str, *, size: int) -> Gadget:
    return Gadget(
        metadata=meta_v1.ObjectMeta(name="web", namespace=namespace), spec=GadgetSpec(size=size)
    )


# Accepted unchanged


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("is_limited", [True, False], ids=["some namespaces", "everywhere"])
async def test_the_server_accepts_every_object_unchanged(
    client: Client, namespace: str, example: str, seen: RecordingObserver, *, is_limited: bool
) -> None:
    installation = installation_of(
        EXAMPLES[example], namespace, *([namespace] if is_limited else ())
    )
    parts = parts_of(installation)
    assert client.settings.field_validation == "Strict"

    async with installed(client, installation, parts.in_order):
        # The second apply shows that the server stored the objects unchanged.
        await apply(client, parts.in_order)
        await remove(client, parts.in_order[1:])
        for document in parts.in_order[1:]:
            if document not in parts.crds:
                await client.create(as_object(document))

    assert seen.of(ApiWarned) == []


@pytest.mark.parametrize("is_limited", [True, False], ids=["some namespaces", "everywhere"])
async def test_the_server_accepts_the_authors_additions_unchanged(
    client: Client, namespace: str, seen: RecordingObserver, *, is_limited: bool
) -> None:
    bare = installation_of(GADGETS, namespace, *([namespace] if is_limited else ()))
    installation = replace(bare, deploy=ADDED, replicas=3, image=f"op:0.1.0@sha256:{'ab' * 32}")
    parts = parts_of(installation)

    async with installed(client, installation, parts.in_order):
        await apply(client, parts.in_order)
        policy = await client.get(
            networking_v1.NetworkPolicy, installation.name, namespace=installation.namespace
        )

    assert policy.spec is not None
    assert (policy.spec.egress or ())[2:] == ADDED.egress
    assert seen.of(ApiWarned) == []


async def test_an_unknown_field_is_rejected(client: Client, namespace: str) -> None:
    parts = parts_of(installation_of(GADGETS, namespace))
    misspelled = {**parts.user_roles[0], "rulez": []}

    with pytest.raises(SteersmanError) as applied:
        await client.apply(as_object(misspelled), field_manager="installer")
    with pytest.raises(BadRequest) as created:
        await client.create(as_object(misspelled))

    assert "rulez" in str(applied.value)
    assert "rulez" in str(created.value)


def test_kubectl_applies_install_yaml_in_one_command(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    tree = whole_tree(installation_of(GADGETS, namespace))
    for path, text in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def kubectl_output(*arguments: str) -> list[str]:
        return sorted(
            control_plane.kubectl(*arguments, "--server-side", "--validate=strict", "-o=name")
            .strip()
            .splitlines()
        )

    try:
        one = kubectl_output("apply", f"--filename={tmp_path / 'install.yaml'}")
        separate = kubectl_output("apply", f"--kustomize={tmp_path}")
    finally:
        control_plane.kubectl(
            "delete", f"--kustomize={tmp_path}", "--ignore-not-found", "--wait=false"
        )

    assert one == separate
    assert len(one) == len(list(yaml.safe_load_all(tree["install.yaml"])))


def whole_tree(installation: Installation) -> dict[str, str]:
    return {**crd_tree(installation), **rbac_tree(installation), **deploy_tree(installation)}


@pytest.mark.parametrize("example", [*EXAMPLES, "gadgets"])
@pytest.mark.parametrize("namespaces", [(), ("team-a", "team-b")], ids=["everywhere", "two"])
def test_kustomize_builds_what_is_installed(
    control_plane: ControlPlane, tmp_path: Path, example: str, namespaces: tuple[str, ...]
) -> None:
    installation = installation_of({**EXAMPLES, "gadgets": GADGETS}[example], "x", *namespaces)
    tree = {f"deploy/{path}": text for path, text in whole_tree(installation).items()}
    # As with a Prometheus operator.
    tree["own/kustomization.yaml"] = yaml.safe_dump(
        {"resources": ["../deploy"], "components": ["../deploy/components/monitor"]}
    )
    for path, text in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def build(folder: str) -> list[Any]:
        text = control_plane.kubectl("kustomize", str(tmp_path / folder))
        return sorted(yaml.safe_load_all(text), key=identity)

    parts = parts_of(installation)
    assert parts.monitor is not None
    assert build("deploy") == sorted(parts.in_order, key=identity)
    assert build("own") == sorted((*parts.in_order, parts.monitor), key=identity)


def identity(document: Document) -> tuple[str, str, str]:
    meta = document["metadata"]
    return document["kind"], meta.get("namespace", ""), meta["name"]


# Restricted


def privileged(template: Any) -> Any:
    privileged_copy = deepcopy(template)
    privileged_copy["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return privileged_copy


def pod_from(template: Any, name: str, namespace: str) -> Document:
    metadata = {**template["metadata"], "name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


async def test_the_operators_pods_are_admitted_to_a_restricted_namespace(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    installation = installation_of(GADGETS, namespace)
    parts = parts_of(installation)
    template = parts.deployment["spec"]["template"]

    async with installed(client, installation, (parts.namespace, parts.account)):
        await apply(client, (parts.deployment,))
        assert seen.of(ApiWarned) == []
        await client.create(as_object(pod_from(template, "restricted", installation.namespace)))
        # Counterexample: kube-apiserver rejects the same Pod with privileges.
        with pytest.raises(Forbidden, match="violates PodSecurity"):
            await client.create(
                as_object(pod_from(privileged(template), "privileged", installation.namespace))
            )
        privileged_copy = deepcopy(dict(parts.deployment))
        privileged_copy["spec"]["template"] = privileged(template)
        await apply(client, (privileged_copy,))
        await remove(client, (parts.deployment,))
        await client.delete_all(core_v1.Pod, namespace=installation.namespace)

    (warned,) = seen.of(ApiWarned)
    assert "would violate PodSecurity" in warned.text


# Sufficient permissions


@pytest.fixture
async def other_token(client: Client, namespace: str) -> str:
    """A token of an account without permissions, which the operator reads."""
    return await new_account(client, namespace, "other")


async def wait_for_missing(client: Client, installation: Installation, expected: set[str]) -> None:
    """Wait until the server applies the current roles: exactly these paths are missing."""
    rules = needed_rules(
        installation.controllers, settings=installation.settings, namespace=installation.namespace
    )

    async def is_current() -> bool:
        missing = await missing_permissions(client, rules, observe=ignore)
        return {rule.path for rule in missing} == expected

    await until(is_current)


@pytest.mark.parametrize("is_limited", [True, False], ids=["in one namespace", "everywhere"])
@pytest.mark.usefixtures("other_token")
async def test_the_operator_runs_with_the_generated_roles(
    client: Client, control_plane: ControlPlane, namespace: str, *, is_limited: bool
) -> None:
    installation = installation_of(GADGETS, namespace, *([namespace] if is_limited else ()))
    seen = RecordingObserver()

    async def is_ready(size: int) -> bool:
        web = await client.get(Gadget, "web", namespace=namespace)
        return web.status is not None and web.status.ready == size

    async def is_gone() -> bool:
        try:
            await client.get(Gadget, "web", namespace=namespace)
        except NotFound:
            return True
        return False

    async with installed(client, installation, parts_of(installation).in_order):
        token = await token_for(client, installation.namespace, installation.name)
        async with connected(control_plane, observe=ignore, token=token) as account:
            await wait_for_missing(account, installation, set())
        async with running_operator(control_plane, installation, token, seen):
            await client.create(gadget(namespace, size=1))
            await until(partial(is_ready, 1))
            await client.apply(gadget(namespace, size=2), field_manager="test", force=True)
            await until(partial(is_ready, 2))
            await client.delete(Gadget, "web", namespace=namespace)
            await until(is_gone)

    assert seen.of(PermissionMissing) == []
    assert [each for each in seen.of(RequestFinished) if each.code == 403] == []
    assert seen.of(EventNotRecorded) == []
    events = await client.list(events_v1.Event, namespace=namespace)
    assert {event.note for event in events.items} >= {"size 1", "size 2"}


def permissions_in(documents: Iterable[Document], place: str) -> Iterator[Permission]:
    """The permissions that these roles grant in a namespace."""
    for document in documents:
        if document["metadata"].get("namespace", place) == place:
            for rule in document.get("rules", ()):
                yield from product(
                    rule["apiGroups"],
                    rule["resources"],
                    rule.get("resourceNames", ("",)),
                    rule["verbs"],
                )


async def permissions_of(account: Client, place: str) -> set[Permission]:
    """The account's permissions in a namespace, from a SelfSubjectRulesReview."""
    review = authorization_v1.SelfSubjectRulesReview(
        spec=authorization_v1.SelfSubjectRulesReviewSpec(namespace=place)
    )
    status = (await account.create(review)).status
    assert status is not None
    return {
        permission
        for rule in status.resource_rules
        for permission in product(
            rule.api_groups or (),
            rule.resources or (),
            rule.resource_names or ("",),
            rule.verbs,
        )
    }


@pytest.mark.parametrize("is_limited", [True, False], ids=["in one namespace", "everywhere"])
async def test_the_operators_account_has_only_the_permissions_of_its_roles(
    client: Client,
    control_plane: ControlPlane,
    namespace: str,
    other_token: str,
    *,
    is_limited: bool,
) -> None:
    installation = installation_of(GADGETS, namespace, *([namespace] if is_limited else ()))
    parts = parts_of(installation)
    granted = (*parts.grants, *parts.metrics_grants)

    async with (
        installed(client, installation, parts.in_order),
        connected(control_plane, observe=ignore, token=other_token) as other_account,
        connected(
            control_plane,
            observe=ignore,
            token=await token_for(client, installation.namespace, installation.name),
        ) as account,
    ):
        await wait_for_missing(account, installation, set())
        for place in (namespace, installation.namespace, "kube-system"):
            default_permissions = await permissions_of(other_account, place)
            own = await permissions_of(account, place)
            assert own - default_permissions == set(permissions_in(granted, place))


def without_rule(role: Document, number: int) -> tuple[Document, Any]:
    rules = [*role["rules"]]
    rule = rules.pop(number)
    return {**role, "rules": rules}, rule


def rules_of(installation: Installation) -> Iterator[tuple[Document, Document, Any]]:
    """Each rule of a role of the operator: the role, the role without it, and the rule."""
    parts = parts_of(installation)
    for role in (*parts.grants, *parts.metrics_grants):
        for number in range(len(role.get("rules", ()))):
            yield role, *without_rule(role, number)


# The operator runs without these permissions.
OPTIONAL = {"events", "gadgets/finalizers", "tokenreviews", "subjectaccessreviews"}


@pytest.mark.parametrize("is_limited", [True, False], ids=["in one namespace", "everywhere"])
async def test_an_error_names_the_rule_that_is_missing_from_a_role(
    client: Client, control_plane: ControlPlane, namespace: str, *, is_limited: bool
) -> None:
    installation = installation_of(GADGETS, namespace, *([namespace] if is_limited else ()))
    named = 0

    async with (
        installed(client, installation, parts_of(installation).in_order),
        connected(
            control_plane,
            observe=ignore,
            token=(token := await token_for(client, installation.namespace, installation.name)),
        ) as account,
    ):
        for role, reduced, rule in rules_of(installation):
            await apply(client, (reduced,))
            await wait_for_missing(account, installation, set(rule["resources"]))
            seen = RecordingObserver()
            async with running_operator(control_plane, installation, token, seen):
                await until(partial(is_reported, seen, rule))
                if set(rule["resources"]) <= OPTIONAL:
                    await until(partial(is_running, seen))
            stages = {each.stage for each in seen.of(StageReached)}
            assert ("running" in stages) == (set(rule["resources"]) <= OPTIONAL), rule
            named += 1
            await apply(client, (role,))
            await wait_for_missing(account, installation, set())

    assert named == len(list(rules_of(installation)))
    assert named >= 8


async def is_running(seen: RecordingObserver) -> bool:
    return any(each.stage == "running" for each in seen.of(StageReached))


async def is_reported(seen: RecordingObserver, rule: Any) -> bool:
    """Whether the reported missing permissions are exactly those of this rule."""
    rules = [yaml.safe_load(each.rule)[0] for each in seen.of(PermissionMissing)]
    return {permission for each in rules for permission in permissions_in_rule(each)} == set(
        permissions_in_rule(rule)
    )


def permissions_in_rule(rule: Any) -> Iterator[Permission]:
    yield from permissions_in([{"metadata": {}, "rules": [rule]}], "")


async def test_an_account_with_the_metrics_reader_role_may_read_the_metrics(
    client: Client, control_plane: ControlPlane, namespace: str, other_token: str
) -> None:
    installation = installation_of(GADGETS, namespace)
    reader = f"{installation.name}-metrics-reader"
    scraper = await new_account(client, namespace, "scraper")
    binding = rbac_v1.ClusterRoleBinding(
        metadata=meta_v1.ObjectMeta(name=reader),
        role_ref=rbac_v1.RoleRef(api_group=GROUP, kind="ClusterRole", name=reader),
        subjects=(rbac_v1.Subject(kind="ServiceAccount", name="scraper", namespace=namespace),),
    )

    async with (
        installed(client, installation, parts_of(installation).in_order),
        connected(
            control_plane,
            observe=ignore,
            token=await token_for(client, installation.namespace, installation.name),
        ) as account,
    ):
        await wait_for_missing(account, installation, set())
        await client.create(binding)

        async def is_allowed() -> bool:
            reviews = TokenReviews(account, clock=SystemClock())
            return await reviews.verdict(scraper, "/metrics") is AccessDecision.ALLOWED

        await until(is_allowed)
        reviews = TokenReviews(account, clock=SystemClock())
        assert await reviews.verdict(scraper, "/debug") is AccessDecision.FORBIDDEN
        assert await reviews.verdict(other_token, "/metrics") is AccessDecision.FORBIDDEN
        await client.delete(rbac_v1.ClusterRoleBinding, reader)


async def test_the_aggregated_roles_grant_admins_editors_and_viewers_their_verbs(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    installation = installation_of(GADGETS, namespace)
    own = {
        role: {
            verb for group, _, _, verb in permissions_in([document], "") if group == GADGET_GROUP
        }
        for role, document in zip(
            ("admin", "edit", "view"), parts_of(installation).user_roles, strict=True
        )
    }

    async def are_added() -> bool:
        for name, verbs in own.items():
            role = await client.get(rbac_v1.ClusterRole, name)
            rules = [rule for rule in role.rules or () if GADGET_GROUP in (rule.api_groups or ())]
            if {verb for rule in rules for verb in rule.verbs} != verbs:
                return False
        return True

    with control_plane.running_controllers("clusterrole-aggregation-controller"):
        async with installed(client, installation, parts_of(installation).in_order):
            await until(are_added)
