"""Randomly changed objects: for each error that a rule can report, an object with this error.

Each object was chosen because it has as few other errors as possible. Its maps have one entry,
because Go validates the entries of a map in random order.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.recorded.builtin_rules.cases import Case
from tests.recorded.recordings import read_recording

PATH = Path(__file__).with_name("generated_cases.jsonl.gz")


def generated_cases() -> Iterator[Case]:
    """The cases; each is named after the error for which it was chosen."""
    for says, fields in read_recording(PATH).items():
        yield Case(says=says, **fields)
