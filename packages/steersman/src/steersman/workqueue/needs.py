"""A key that needs a look."""

from collections.abc import Hashable
from typing import Generic, TypeVar

import msgspec

K = TypeVar("K", bound=Hashable)


class Need(msgspec.Struct, Generic[K], gc=False):
    """A key that needs a look, how urgently, and since when: for a delayed one, from when on.

    Not frozen, because one that is added again may become more urgent.
    """

    key: K
    priority: int
    since_at: float
    place: int = 0  # in the line; 0: not in it
