"""Who is next: the most urgent, the oldest of those, and now and then the oldest of all."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.workqueue.priority_fifo import OLDEST_EVERY, Item, PriorityFifo

# What happens to a line: a key of this priority comes in, or one goes out.
Events = list[int | None]
EVENT_LISTS = st.lists(st.one_of(st.none(), st.none(), st.integers(-2, 2)), max_size=200)


class Run:
    """Who was there when each one went out, in the order in which they came."""

    def __init__(self, events: Events) -> None:
        line = PriorityFifo[int]()
        there: list[Item[int]] = []
        self.lines: list[list[Item[int]]] = []
        self.popped: list[Item[int]] = []
        for key, event in enumerate(events):
            if event is not None:
                item = Item(key, event, 0.0)
                there.append(item)
                line.push(item)
            elif there:
                self.lines.append([*there])
                popped = line.pop()
                there.remove(popped)
                self.popped.append(popped)
        assert len(line) == len(there)


@given(EVENT_LISTS)
def test_the_next_is_the_oldest_of_the_most_urgent_or_the_oldest_of_all(events: Events) -> None:
    run = Run(events)

    for line, popped in zip(run.lines, run.popped, strict=True):
        assert popped in (max(line, key=lambda item: item.priority), line[0])


@given(EVENT_LISTS)
def test_items_of_one_priority_are_popped_in_order(events: Events) -> None:
    run = Run(events)

    for priority in range(-2, 3):
        keys = [item.key for item in run.popped if item.priority == priority]
        assert keys == sorted(keys)


@given(EVENT_LISTS)
def test_of_ten_in_a_row_one_is_the_oldest(events: Events) -> None:
    run = Run(events)
    was_oldest = [line[0] is popped for line, popped in zip(run.lines, run.popped, strict=True)]

    for start in range(len(was_oldest) - OLDEST_EVERY + 1):
        assert any(was_oldest[start : start + OLDEST_EVERY])


@given(older=st.integers(0, 20), urgency=st.integers(1, 10**9))
def test_no_key_waits_for_more_than_ten_times_those_that_were_there_before(
    older: int, urgency: int
) -> None:
    line = PriorityFifo[str]()
    for n in range(older):
        line.push(Item(f"older-{n}", 0, 0.0))
    line.push(Item("web", 0, 0.0))

    out = ""
    count = 0
    while out != "web":
        line.push(Item(f"urgent-{count}", urgency, 0.0))
        out = line.pop().key
        count += 1

    assert count == OLDEST_EVERY * (older + 1)


def test_a_raised_item_is_before_later_ones() -> None:
    line = PriorityFifo[str]()
    items = {key: Item(key, priority, 0.0) for key, priority in [("a", 0), ("b", 1), ("c", 0)]}
    for item in items.values():
        line.push(item)

    line.raise_to(1, items["c"])
    line.raise_to(2, items["c"])
    line.raise_to(1, items["a"])

    assert [line.pop().key for _ in range(len(line))] == ["c", "a", "b"]


def test_a_raised_or_old_item_is_popped_once() -> None:
    line = PriorityFifo[str]()
    first, last = Item("first", -1, 0.0), Item("last", -1, 0.0)
    line.push(first)
    line.push(last)

    line.raise_to(0, first)

    assert [line.pop().key for _ in range(len(line))] == ["first", "last"]

    line.push(Item("old", -1, 0.0))
    line.push(Item("not so old", -1, 0.0))
    for n in range(OLDEST_EVERY):
        line.push(Item(f"urgent-{n}", 0, 0.0))
    popped = [line.pop().key for _ in range(len(line))]
    assert [key for key in popped if "old" in key] == ["old", "not so old"]
