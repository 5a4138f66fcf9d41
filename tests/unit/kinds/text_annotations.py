"""A part whose annotations are all text, one of them an alias."""

from __future__ import annotations

from collections.abc import Mapping

import steersman as sm

Words = Mapping[str, str]


class Spec(sm.Part):
    """Maps by alias and by name."""

    alias: Words
    plain: Mapping[str, str]
