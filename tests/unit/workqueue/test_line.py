"""Who is next: the most urgent, the oldest of those, and now and then the oldest of all."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.workqueue.line import OLDEST_EVERY, Line
from steersman.workqueue.needs import Need

# What happens to a line: a key of this priority comes in, or one goes out.
Story = list[int | None]
STORIES = st.lists(st.one_of(st.none(), st.none(), st.integers(-2, 2)), max_size=200)


class Told:
    """Who was there when each one went out, in the order in which they came."""

    def __init__(self, story: Story) -> None:
        line = Line[int]()
        there: list[Need[int]] = []
        self.lines: list[list[Need[int]]] = []
        self.popped: list[Need[int]] = []
        for key, event in enumerate(story):
            if event is not None:
                need = Need(key, event, 0.0)
                there.append(need)
                line.push(need)
            elif there:
                self.lines.append([*there])
                popped = line.pop()
                there.remove(popped)
                self.popped.append(popped)
        assert len(line) == len(there)


@given(STORIES)
def test_the_next_is_the_oldest_of_the_most_urgent_or_the_oldest_of_all(story: Story) -> None:
    told = Told(story)

    for line, popped in zip(told.lines, told.popped, strict=True):
        assert popped in (max(line, key=lambda need: need.priority), line[0])


@given(STORIES)
def test_those_of_one_priority_go_out_in_the_order_in_which_they_came(story: Story) -> None:
    told = Told(story)

    for priority in range(-2, 3):
        keys = [need.key for need in told.popped if need.priority == priority]
        assert keys == sorted(keys)


@given(STORIES)
def test_of_ten_in_a_row_one_is_the_oldest(story: Story) -> None:
    told = Told(story)
    was_oldest = [line[0] is popped for line, popped in zip(told.lines, told.popped, strict=True)]

    for start in range(len(was_oldest) - OLDEST_EVERY + 1):
        assert any(was_oldest[start : start + OLDEST_EVERY])


@given(older=st.integers(0, 20), urgency=st.integers(1, 10**9))
def test_nobody_waits_for_more_than_ten_times_those_that_were_there_before(
    older: int, urgency: int
) -> None:
    line = Line[str]()
    for n in range(older):
        line.push(Need(f"older-{n}", 0, 0.0))
    line.push(Need("web", 0, 0.0))

    out = ""
    count = 0
    while out != "web":
        line.push(Need(f"urgent-{count}", urgency, 0.0))
        out = line.pop().key
        count += 1

    assert count == OLDEST_EVERY * (older + 1)


def test_who_moves_up_stands_before_those_that_came_later() -> None:
    line = Line[str]()
    needs = {key: Need(key, priority, 0.0) for key, priority in [("a", 0), ("b", 1), ("c", 0)]}
    for need in needs.values():
        line.push(need)

    line.raise_to(1, needs["c"])
    line.raise_to(2, needs["c"])
    line.raise_to(1, needs["a"])

    assert [line.pop().key for _ in range(len(line))] == ["c", "a", "b"]


def test_who_moves_up_or_goes_out_for_its_age_goes_out_once() -> None:
    line = Line[str]()
    first, last = Need("first", -1, 0.0), Need("last", -1, 0.0)
    line.push(first)
    line.push(last)

    line.raise_to(0, first)

    assert [line.pop().key for _ in range(len(line))] == ["first", "last"]

    line.push(Need("old", -1, 0.0))
    line.push(Need("not so old", -1, 0.0))
    for n in range(OLDEST_EVERY):
        line.push(Need(f"urgent-{n}", 0, 0.0))
    popped = [line.pop().key for _ in range(len(line))]
    assert [key for key in popped if "old" in key] == ["old", "not so old"]
