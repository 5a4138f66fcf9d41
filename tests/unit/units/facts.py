"""Results of Go and the Kubernetes libraries, as rows for the tests."""

import json
from pathlib import Path
from typing import Any

import pytest

_FACTS = json.loads(Path(__file__).with_name("go_facts.json").read_text())


def known(subject: str) -> list[Any]:
    """The rows about ``subject``, as parameter sets."""
    names = _FACTS["columns"][subject]
    return [
        pytest.param(*row, *[None] * (len(names) - len(row)), id=ascii(row))
        for row in _FACTS[subject]
    ]
