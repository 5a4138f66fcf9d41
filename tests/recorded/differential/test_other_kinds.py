"""Built-in kinds of the other groups behave as those of the real server."""

from typing import Final

from tests.recorded.differential.comparison import Compare
from tests.recorded.differential.transcripts import Area

AREA: Final[Area] = "other kinds"


def test_the_server_responds_as_recorded(group: str, compare: Compare) -> None:
    compare(group)
