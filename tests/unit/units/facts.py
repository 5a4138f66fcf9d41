"""What Go and the Kubernetes libraries answer, as rows to ask steersman for again."""

import json
from pathlib import Path
from typing import Any

import pytest

_FACTS = json.loads(Path(__file__).with_name("go_facts.json").read_text())


def known(subject: str) -> list[Any]:
    """The rows about ``subject``, each a parameter set named after what it asks."""
    names = _FACTS["columns"][subject]
    return [
        pytest.param(*row, *[None] * (len(names) - len(row)), id=ascii(row))
        for row in _FACTS[subject]
    ]
