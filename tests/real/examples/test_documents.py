"""The commands of the documents show what the documents show, on both clusters."""

from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane
from tests.examples import PROJECTS
from tests.real.examples.terminal import terminal

DOCUMENTS = {
    each.stem: each for each in sorted(Path(__file__).with_name("documents").glob("*.console"))
}


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_the_commands_of_a_document_print_the_documents_output(
    name: str, usual_cluster: ControlPlane
) -> None:
    with terminal(usual_cluster, directory=PROJECTS[name], clock=SystemClock()) as opened:
        await opened.follow(DOCUMENTS[name].read_text(encoding="utf-8"))


def test_every_example_has_a_document_with_commands() -> None:
    assert set(DOCUMENTS) == set(PROJECTS)
