"""A blocked event loop: the log has the controller, the object and the stack."""

import threading

import steersman as sm
from steersman.observe import LoopBlocked
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import operating
from tests.real.definitions import Widget

# Longer than the interval of the stall detector, which uses real time, as the loop does.
HELD_UP_SECONDS = 2.0


async def test_a_blocked_event_loop_is_reported_with_controller_object_and_stack(
    scene: Scene,
) -> None:
    held: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if not held:
            held.append(obj.name)
            scene.clock.advance(10.0)
            threading.Event().wait(HELD_UP_SECONDS)
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, name="computing")
    async with operating(scene, controller) as operator:
        await scene.until(lambda: operator.seen(LoopBlocked), seconds=0.01)

    found = operator.seen(LoopBlocked)[0]
    assert (found.controller, str(found.ref)) == ("computing", f"Widget {HERE}/{held[0]}")
    # Frames between the loop and the author's function are omitted.
    assert found.stack[0].startswith(f"{__file__}:")
    assert "reconcile" in found.stack[0]
    text, fields = found.describe()
    assert f"in the reconcile of Widget {HERE}/{held[0]} by computing" in text
    assert fields["name"] == held[0]
