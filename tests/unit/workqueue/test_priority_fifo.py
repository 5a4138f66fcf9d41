"""The order of the priority FIFO: by priority, then by age; one pop in ten is the oldest item."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.workqueue.priority_fifo import OLDEST_EVERY, Item, PriorityFifo

# A key is pushed with this priority, or one is popped.
Events = list[int | None]
EVENT_LISTS = st.lists(st.one_of(st.none(), st.none(), st.integers(-2, 2)), max_size=200)


class Run:
    """The items that were waiting at each pop, oldest first."""

    def __init__(self, events: Events) -> None:
        fifo = PriorityFifo[int]()
        waiting: list[Item[int]] = []
        self.waiting_at_pop: list[list[Item[int]]] = []
        self.popped: list[Item[int]] = []
        for key, event in enumerate(events):
            if event is not None:
                item = Item(key, event, 0.0)
                waiting.append(item)
                fifo.push(item)
            elif waiting:
                self.waiting_at_pop.append([*waiting])
                popped = fifo.pop()
                waiting.remove(popped)
                self.popped.append(popped)
        assert len(fifo) == len(waiting)


@given(EVENT_LISTS)
def test_the_popped_item_is_the_oldest_of_the_highest_priority_or_the_oldest_of_all(
    events: Events,
) -> None:
    run = Run(events)

    for fifo, popped in zip(run.waiting_at_pop, run.popped, strict=True):
        assert popped in (max(fifo, key=lambda item: item.priority), fifo[0])


@given(EVENT_LISTS)
def test_items_of_one_priority_are_popped_in_order(events: Events) -> None:
    run = Run(events)

    for priority in range(-2, 3):
        keys = [item.key for item in run.popped if item.priority == priority]
        assert keys == sorted(keys)


@given(EVENT_LISTS)
def test_one_of_ten_successive_pops_is_the_oldest_item(events: Events) -> None:
    run = Run(events)
    was_oldest = [
        fifo[0] is popped for fifo, popped in zip(run.waiting_at_pop, run.popped, strict=True)
    ]

    for start in range(len(was_oldest) - OLDEST_EVERY + 1):
        assert any(was_oldest[start : start + OLDEST_EVERY])


@given(older=st.integers(0, 20), urgency=st.integers(1, 10**9))
def test_no_key_waits_for_more_than_ten_times_the_number_of_earlier_keys(
    older: int, urgency: int
) -> None:
    fifo = PriorityFifo[str]()
    for n in range(older):
        fifo.push(Item(f"older-{n}", 0, 0.0))
    fifo.push(Item("web", 0, 0.0))

    out = ""
    count = 0
    while out != "web":
        fifo.push(Item(f"urgent-{count}", urgency, 0.0))
        out = fifo.pop().key
        count += 1

    assert count == OLDEST_EVERY * (older + 1)


def test_a_raised_item_precedes_later_items() -> None:
    fifo = PriorityFifo[str]()
    items = {key: Item(key, priority, 0.0) for key, priority in [("a", 0), ("b", 1), ("c", 0)]}
    for item in items.values():
        fifo.push(item)

    fifo.raise_to(1, items["c"])
    fifo.raise_to(2, items["c"])
    fifo.raise_to(1, items["a"])

    assert [fifo.pop().key for _ in range(len(fifo))] == ["c", "a", "b"]


def test_a_raised_or_old_item_is_popped_once() -> None:
    fifo = PriorityFifo[str]()
    first, last = Item("first", -1, 0.0), Item("last", -1, 0.0)
    fifo.push(first)
    fifo.push(last)

    fifo.raise_to(0, first)

    assert [fifo.pop().key for _ in range(len(fifo))] == ["first", "last"]

    fifo.push(Item("old", -1, 0.0))
    fifo.push(Item("not so old", -1, 0.0))
    for n in range(OLDEST_EVERY):
        fifo.push(Item(f"urgent-{n}", 0, 0.0))
    popped = [fifo.pop().key for _ in range(len(fifo))]
    assert [key for key in popped if "old" in key] == ["old", "not so old"]
