"""Events are counted, however the stream is split into pieces."""

import pytest

from bench.harness.fan_out import MARKER, MarkerCounter

STREAM = b"HTTP/1.1 200 OK\r\n\r\n" + b"".join(
    b'%x\r\n{"type":"ADDED","object":{"number":%d}}\n\r\n' % (40, number) for number in range(5)
)


@pytest.mark.parametrize("size", [1, 2, len(MARKER) - 1, len(MARKER), 50, len(STREAM)])
def test_each_event_is_counted_once(size: int) -> None:
    tally = MarkerCounter(MARKER)

    found = [tally.add(STREAM[at : at + size]) for at in range(0, len(STREAM), size)]

    assert sum(found) == tally.count == 5


def test_an_event_counts_once_its_prefix_is_complete() -> None:
    tally = MarkerCounter(MARKER)

    assert tally.add(MARKER[:-1]) == 0
    assert tally.add(MARKER[-1:]) == 1
    assert tally.add(b"") == 0
