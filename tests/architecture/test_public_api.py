"""The public API is recorded in a file, so that a review sees each change of it."""

from difflib import unified_diff

import pytest

from tests.architecture.public_api.snapshot import SNAPSHOT, snapshot


def test_the_recorded_public_api_is_current() -> None:
    recorded = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    difference = "\n".join(
        unified_diff(recorded, snapshot().splitlines(), "recorded", "current", lineterm="", n=0)
    )

    if difference:
        pytest.fail(
            f"the public API has changed:\n{difference}\nIf this is intended, run `make "
            "api-snapshot`, and describe the change in changes/.",
            pytrace=False,
        )
