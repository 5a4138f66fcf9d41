"""Our ReplicationControllers take the steps that kube-controller-manager's take."""

from collections.abc import Iterator

import pytest

from tests.real.both_told import Ends, Story, Tale, Telling, difference
from tests.real.replication_stories import KINDS, STORIES, is_caught_up, seen

pytestmark = pytest.mark.timeout(180)

TELLING = Telling(
    parts=("replicationcontrollers",),
    theirs=("replicationcontroller-controller",),
    tales=(Tale(stories=STORIES, kinds=KINDS, is_caught_up=is_caught_up, seen=seen),),
)


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[Ends, Ends]]:
    """What there is to see after each story: with Kubernetes' own controllers, and with ours."""
    yield from TELLING.ends()


@TELLING.each_story
def test_our_controllers_take_the_same_steps_on_a_real_server(
    story: Story, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = (each[story.__name__] for each in ends)

    assert ours == theirs, difference(theirs, ours)


@TELLING.each_story
def test_our_controllers_take_the_same_steps_in_virtual_time(
    story: Story, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = ends[0][story.__name__], TELLING.in_virtual_time(story)

    assert ours == theirs, difference(theirs, ours)
