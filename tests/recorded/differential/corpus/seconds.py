"""Writes without effect, in the same second as the writes before them, or in a later one.

A write without effect gets no new version: only the time of its manager changes, and that is
ignored. But managers are sorted by time, then by name. A later time can therefore change their
order, and then the write gets a new version.
"""

from collections.abc import Iterator
from dataclasses import replace

from tests.recorded.differential.corpus.kinds import Place, builtin_kinds
from tests.recorded.differential.scenario import GONE, Changed, Request, Scenario

# The server itself restores an annotation of a DaemonSet, so that each write takes a field.
KIND = "apps/v1/daemonsets"

# The writes that begin in a new second.
CASES: dict[str, tuple[str, ...]] = {
    "one-second": (),
    # The two managers have equal times, and are sorted by name.
    "last-write-later": ("again",),
    # The managers are sorted by time already.
    "each-write-later": ("mine", "again"),
}


def scenarios() -> Iterator[Scenario]:
    """A scenario for each case."""
    for case, later in CASES.items():
        at = Place(builtin_kinds()[KIND], f"seconds/{case}")
        in_new_second = {"created", *later}
        yield at.scenario(
            *(replace(request, new_second=request.name in in_new_second) for request in _writes(at))
        )


def _writes(at: Place) -> Iterator[Request]:
    yield at.create("created", at.object("one"))
    changes = {"metadata.annotations": {"by": "update"}, "metadata.resourceVersion": GONE}
    body = Changed("created", changes)
    yield at.update("theirs", "one", body, {"fieldManager": "tester"}, sub="status")
    yield at.update("mine", "one", body, sub="status")
    yield at.update("again", "one", body, sub="status")
