"""Webhooks are asked the same by the embedded server as by the real one, and heeded the same."""

import pytest

from tests.real.differential.servers import HttpsServer
from tests.real.reviewing import Story, both, next_number, tell
from tests.real.webhook_failures import FAILURES
from tests.real.webhook_stories import STORIES

__all__ = ["both"]


@pytest.mark.parametrize("story", STORIES + FAILURES, ids=lambda story: story.__name__)
def test_webhooks_are_asked_and_heeded_as_by_the_real_server(
    story: Story, both: tuple[HttpsServer, HttpsServer]
) -> None:
    number = next_number()

    first, second = (
        tell(story, server, f"away.story-{number}.svc", number=number) for server in both
    )

    for theirs, ours in zip(first, second, strict=True):
        assert ours == theirs
