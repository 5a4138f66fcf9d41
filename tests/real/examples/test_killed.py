"""Each example reaches its desired state though its operator is killed ten times."""

import re
from pathlib import Path
from random import Random

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane
from tests.examples import PROJECTS
from tests.real.examples.terminal import terminal
from tools.transcripts import PROMPT

pytestmark = pytest.mark.deep

KILLS = 10
# From before its first request to after its last.
MAX_LIFE_SECONDS = 1.5

TRIALS = {each.stem: each for each in sorted(Path(__file__).with_name("killed").glob("*.console"))}


def parts(text: str) -> dict[str, str]:
    """What is typed, by its heading: operator, before, meanwhile (``{number}`` counts), after."""
    found = re.split(r"^# (\w+)\n", text, flags=re.MULTILINE)
    return {heading: part.strip() for heading, part in zip(found[1::2], found[2::2], strict=True)}


@pytest.mark.parametrize("name", TRIALS)
async def test_an_operator_reaches_the_desired_state_despite_ten_kills_at_random_moments(
    name: str, usual_cluster: ControlPlane
) -> None:
    """No object asks for a certain nodePort.

    kube-apiserver sometimes keeps the port of an interrupted request allocated, until it compares
    its allocations with the Services, every three minutes.
    """
    clock, rng = SystemClock(), Random(name)
    trial = parts(TRIALS[name].read_text(encoding="utf-8"))
    command = trial["operator"].removeprefix(PROMPT)
    with terminal(usual_cluster, directory=PROJECTS[name], clock=clock) as opened:
        await opened.follow(trial["before"])

        for number in range(KILLS):
            operator = opened.start(command)
            await opened.follow(trial["meanwhile"].replace("{number}", str(number)))
            await clock.sleep(rng.uniform(0, MAX_LIFE_SECONDS))
            operator.kill()
        opened.start(command)

        await opened.follow(trial["after"])


def test_every_example_is_tested_with_kills() -> None:
    assert set(TRIALS) == set(PROJECTS)
