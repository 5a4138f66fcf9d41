"""A part whose annotations are strings; one of them is an alias."""

from __future__ import annotations

from collections.abc import Mapping

import steersman as sm

Words = Mapping[str, str]


class Spec(sm.Part):
    """Maps with an alias as their type, and with a type."""

    alias: Words
    plain: Mapping[str, str]
