"""The steps of a demo, on a simulated cluster."""

from pathlib import Path

import pytest

from steersman.errors import Invalid, ProjectError, Unavailable, WaitTimeout
from steersman.kinds import core_v1, meta_v1
from steersman.manager import Runnable
from steersman_cluster.demos import DemoContext
from steersman_cluster.errors import NotRejected
from steersman_cluster.simulation import Cluster

PAUSE_SECONDS = 5.0


def settings(name: str, **data: str) -> core_v1.ConfigMap:
    metadata = meta_v1.ObjectMeta(name=name, namespace="default", labels={"of": "steps"})
    return core_v1.ConfigMap(metadata=metadata, data=data)


class Listener:
    """Records each line of the demo, with its time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._started_at = cluster.clock.monotonic()
        self.lines: list[tuple[float, str]] = []
        self.notes: list[str] = []

    def record(self, text: str) -> None:
        self.lines.append((round(self._cluster.clock.monotonic() - self._started_at, 1), text))


@pytest.fixture
def listener(cluster: Cluster) -> Listener:
    return Listener(cluster)


@pytest.fixture
def ctx(cluster: Cluster, listener: Listener, tmp_path: Path) -> DemoContext:
    return DemoContext(
        cluster.client,
        directory=tmp_path,
        say=listener.record,
        note=listener.notes.append,
        pause_seconds=PAUSE_SECONDS,
    )


async def test_the_result_of_a_step_is_shown_before_the_next_step_begins(
    ctx: DemoContext, listener: Listener
) -> None:
    await ctx.step("one")
    await ctx.apply(settings("a"))
    await ctx.until(core_v1.ConfigMap, "a", lambda _: True)
    await ctx.step("two")

    assert listener.lines == [(0.0, "one"), (PAUSE_SECONDS, "two")]


async def test_every_wait_of_a_demo_has_a_timeout(cluster: Cluster, ctx: DemoContext) -> None:
    await ctx.apply(settings("a"))
    started_at = cluster.clock.monotonic()

    for waiting in (
        ctx.until(core_v1.ConfigMap, "a", lambda found: found.data == {"never": "so"}),
        ctx.until_all(core_v1.ConfigMap, lambda found: not found),
        ctx.until_printed("anything"),
        ctx.until_gone(core_v1.ConfigMap, "a"),
    ):
        with pytest.raises(WaitTimeout, match=r"^waited 60 s for .* without success; last seen: "):
            await waiting

    assert cluster.clock.monotonic() - started_at == pytest.approx(4 * 60, abs=1)


async def test_a_rejection_in_a_demo_is_a_rejection_by_the_server(
    ctx: DemoContext, listener: Listener
) -> None:
    await ctx.step("a name with a blank in it")

    error = await ctx.expect_rejection(ctx.apply(settings("a", **{"no key": "x"})))
    with pytest.raises(NotRejected, match="in the step 'a name with a blank in it'"):
        await ctx.expect_rejection(ctx.apply(settings("a")))

    assert isinstance(error, Invalid)
    (note,) = listener.notes
    assert note.startswith('rejected: ConfigMap "a" is invalid: data[no key]')


async def test_a_server_failure_is_not_a_rejection(ctx: DemoContext) -> None:
    async def failing() -> None:
        raise Unavailable(wanted="get a", code=503, reason="ServiceUnavailable", message="busy")

    with pytest.raises(Unavailable):
        await ctx.expect_rejection(failing())


async def test_a_file_is_applied_as_by_kubectl(ctx: DemoContext, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
        "---\n"
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
        encoding="utf-8",
    )

    await ctx.apply("two.yaml")

    assert {"a", "b"} <= {each.name for each in await ctx.list(core_v1.ConfigMap)}


async def test_a_missing_file_is_named(ctx: DemoContext) -> None:
    with pytest.raises(ProjectError, match=r"^three.yaml cannot be read"):
        await ctx.apply("three.yaml")


async def test_until_all_waits_for_objects_by_label(ctx: DemoContext, cluster: Cluster) -> None:
    await ctx.apply(settings("a"))

    async def another(_: object) -> None:
        await cluster.clock.sleep(3)
        await ctx.apply(settings("b"))

    await cluster.run_operator(runnables=[Runnable(another)])
    found = await ctx.until_all(
        core_v1.ConfigMap, lambda found: len(found) == 2, labels={"of": "steps"}
    )

    assert [each.name for each in found] == ["a", "b"]


async def test_until_back_waits_for_an_object_with_another_uid(ctx: DemoContext) -> None:
    await ctx.apply(settings("a", size="1"))
    first = await ctx.patch(core_v1.ConfigMap, "a", {"data": {"size": "2"}})

    await ctx.delete(core_v1.ConfigMap, "a")
    await ctx.until_gone(core_v1.ConfigMap, "a", uid=first.uid)
    await ctx.apply(settings("a"))
    again = await ctx.until_back(core_v1.ConfigMap, "a", not_uid=first.uid)

    assert first.data == {"size": "2"}
    assert again.uid == (await ctx.get(core_v1.ConfigMap, "a")).uid != first.uid


async def test_operator_output_of_an_earlier_step_does_not_count_for_this_one(
    ctx: DemoContext,
) -> None:
    await ctx.step("one")
    ctx.add_output("Pod web is there")
    await ctx.until_printed("web")
    await ctx.step("two")

    with pytest.raises(WaitTimeout, match="last seen: nothing"):
        await ctx.until_printed("web")
