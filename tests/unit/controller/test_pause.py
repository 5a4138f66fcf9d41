from typing import Any

import pytest

from steersman.controller import PAUSED, is_paused
from tests.unit.controller.apps import app, widget


@pytest.mark.parametrize("make", [app, widget])
def test_an_object_is_paused_by_an_annotation_with_the_value_true(make: Any) -> None:
    assert PAUSED == "steersman.dev/paused"
    assert is_paused(make(annotations={PAUSED: "true", "other": "x"}))
    for annotations in ({PAUSED: "false"}, {PAUSED: ""}, {PAUSED: "True"}, {"other": "true"}, None):
        assert not is_paused(make(annotations=annotations))
