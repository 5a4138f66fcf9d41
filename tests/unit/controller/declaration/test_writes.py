"""Declared writes: verbs, objects, and invalid declarations."""

from typing import Any

import pytest

import steersman as sm
from steersman.controller.declaration.access import DeclaredAccess
from steersman.controller.declaration.writes import Writes
from steersman.controller.rbac import permissions
from steersman.errors import BadName, BadValue, UndeclaredRead, UndeclaredWrite
from steersman.kinds import core_v1, meta_v1, rbac_v1
from steersman.manager import Runnable
from tests.unit.controller.apps import App
from tests.unit.controller.context.test_context import SlowWriter, context_of

ConfigMap = core_v1.ConfigMap
Secret = core_v1.Secret


async def reconcile(obj: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def context(**declared: Any) -> sm.Context:
    return context_of(SlowWriter(), sm.Controller(App, reconcile=reconcile, **declared))


def named(kind: Any, name: str, **metadata: Any) -> Any:
    return kind(metadata=meta_v1.ObjectMeta(name=name, namespace="here", **metadata))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"verbs": ("get",)}, "it must be one of create, update, patch, delete"),
        ({"verbs": ("remove",)}, "it must be one of create, update, patch, delete"),
        ({"verbs": "patch"}, 'they must be a tuple: verbs=("patch",)'),
        ({"verbs": ()}, 'they must be a tuple: verbs=("patch",)'),
        ({"names": "one"}, 'they must be a tuple: names=("one",)'),
        ({"names": ("a/b",)}, "it must be one path segment"),
        (
            {"names": ("one",), "verbs": ("deletecollection",)},
            "names do not apply to deletecollection",
        ),
        ({"subresource": "no/such"}, "it must consist of lower-case letters"),
        ({"subresource": "Status"}, "it must consist of lower-case letters"),
    ],
)
def test_a_rule_that_rbac_cannot_express_is_rejected_when_it_is_declared(
    wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises((BadValue, BadName)) as raised:
        Writes(ConfigMap, **wrong)

    assert says in str(raised.value)
    assert "ConfigMap" in str(raised.value)


def test_a_name_that_only_some_kinds_allow_can_be_declared() -> None:
    writes = Writes(rbac_v1.ClusterRole, verbs=("patch",), names=("system:node", "Leader"))

    assert writes.names == ("system:node", "Leader")


@pytest.mark.parametrize("made", [lambda: Writes("ConfigMap"), lambda: sm.Owns("ConfigMap")])  # type: ignore[arg-type]
def test_a_class_without_a_kind_is_rejected(made: Any) -> None:
    with pytest.raises(BadValue, match="pass the class of a kind"):
        made()


def test_a_kind_without_verbs_has_those_of_apply() -> None:
    controller = sm.Controller(App, reconcile=reconcile, writes=(ConfigMap,))

    assert controller.written == (Writes(ConfigMap, verbs=("create", "patch")),)
    assert Writes(ConfigMap, subresource="status").verbs == ("patch",)


@pytest.mark.parametrize(
    ("declared", "attempt", "says"),
    [
        (
            {"owns": (ConfigMap,)},
            lambda ctx: ctx.delete(named(ConfigMap, "one")),
            'Write owns=(sm.Owns(ConfigMap, verbs=("create", "patch", "delete")),)',
        ),
        (
            {"owns": (ConfigMap,)},
            lambda ctx: ctx.prune(),
            'Write owns=(sm.Owns(ConfigMap, verbs=("create", "patch", "delete")),)',
        ),
        (
            {"owns": (sm.Owns(ConfigMap, verbs=("create", "delete")),)},
            lambda ctx: ctx.apply_owned(named(ConfigMap, "one")),
            'Write owns=(sm.Owns(ConfigMap, verbs=("create", "patch", "delete")),)',
        ),
        (
            {"owns": (sm.Owns(ConfigMap, verbs=("create",)),)},
            lambda ctx: ctx.apply_owned(named(ConfigMap, "one")),
            "Write owns=(ConfigMap,) in the controller",
        ),
        (
            {
                "owns": (ConfigMap,),
                "writes": (sm.Writes(ConfigMap, verbs=("delete",), names=("one",)),),
            },
            lambda ctx: ctx.prune(),
            'Write owns=(sm.Owns(ConfigMap, verbs=("create", "patch", "delete")),)',
        ),
        (
            {"writes": (ConfigMap,)},
            lambda ctx: ctx.delete(named(ConfigMap, "one")),
            'Add writes=(sm.Writes(ConfigMap, verbs=("create", "patch", "delete")),)',
        ),
        (
            {"writes": (sm.Writes(ConfigMap, verbs=("patch",)),)},
            lambda ctx: ctx.create(named(ConfigMap, "one")),
            'Add writes=(sm.Writes(ConfigMap, verbs=("create", "patch")),)',
        ),
        (
            {"writes": (sm.Writes(ConfigMap, verbs=("patch",)),)},
            lambda ctx: ctx.apply(named(ConfigMap, "one")),
            'Add writes=(sm.Writes(ConfigMap, verbs=("create", "patch")),)',
        ),
        (
            {},
            lambda ctx: ctx.apply(named(ConfigMap, "one")),
            "Add writes=(ConfigMap,) to the controller",
        ),
        (
            {},
            lambda ctx: ctx.create_owned(named(ConfigMap, "one")),
            "Add owns=(ConfigMap,) to the controller",
        ),
        (
            {"writes": (core_v1.Pod,)},
            lambda ctx: ctx.apply_status(named(core_v1.Pod, "one"), {}),
            'Add writes=(sm.Writes(Pod, verbs=("patch",), subresource="status"),)',
        ),
        (
            {"writes": (sm.Writes(ConfigMap, names=("one",)),)},
            lambda ctx: ctx.apply(named(ConfigMap, "two")),
            "Its Writes(ConfigMap) is limited to one: add the name to it, or remove its names",
        ),
        (
            {"writes": (sm.Writes(ConfigMap, names=("one",)),)},
            lambda ctx: ctx.create(named(ConfigMap, "", generate_name="one-")),
            "cannot create v1 ConfigMap without a name",
        ),
    ],
)
async def test_an_undeclared_verb_is_rejected_with_the_rule_to_declare(
    declared: dict[str, Any], attempt: Any, says: str
) -> None:
    with pytest.raises(UndeclaredWrite) as raised:
        await attempt(context(**declared))

    assert says in str(raised.value)


async def test_written_objects_can_be_read_and_kinds_listed_only_if_declared() -> None:
    some = context(writes=(sm.Writes(Secret, names=("one",)),))

    with pytest.raises(UndeclaredRead, match=r"read v1 Secret two.*reads=\(Secret,\)"):
        await some.live.get(Secret, "two")
    with pytest.raises(UndeclaredRead, match=r"list v1 Secret.*reads=\(Secret,\)"):
        await some.live.list(Secret)


def test_several_rules_of_one_kind_add_up() -> None:
    controller = sm.Controller(
        App,
        reconcile=reconcile,
        writes=(
            sm.Writes(ConfigMap, verbs=("patch",), names=("one",)),
            sm.Writes(ConfigMap, verbs=("patch",), names=("two",)),
            sm.Writes(ConfigMap, verbs=("delete",)),
        ),
    )
    access = DeclaredAccess(controller)

    for name in ("one", "two"):
        access.check_write(ConfigMap, "patch", ("patch",), name=name)
    access.check_write(ConfigMap, "delete", ("delete",), name="three")
    with pytest.raises(UndeclaredWrite, match=r"Writes.ConfigMap. is limited to one, two"):
        access.check_write(ConfigMap, "patch", ("patch",), name="three")


async def _run(services: Any) -> None:
    raise NotImplementedError


def test_a_runnable_declares_the_permissions_it_needs() -> None:
    runnable = Runnable(
        _run,
        name="collector",
        watches=(core_v1.Node,),
        reads=(Secret,),
        writes=(ConfigMap, sm.Writes(core_v1.Pod, verbs=("create",), subresource="eviction")),
    )

    rules = permissions([], lease=None, namespaces=("one",), runnables=(runnable,))

    assert [str(rule) for rule in rules] == [
        "get, list, watch nodes in the whole cluster",
        "get, create, patch configmaps in namespace one",
        "create pods/eviction in namespace one",
        "get, list secrets in namespace one",
    ]


@pytest.mark.parametrize("what", ["watches", "reads", "writes"])
def test_a_runnable_that_declares_no_kinds_is_rejected(what: str) -> None:
    with pytest.raises(BadValue, match=f"the {what} of the runnable collector"):
        Runnable(_run, name="collector", **{what: ConfigMap})  # type: ignore[arg-type]
    with pytest.raises(BadValue, match=f"one of the {what} of the runnable collector"):
        Runnable(_run, name="collector", **{what: ("ConfigMap",)})  # type: ignore[arg-type]
