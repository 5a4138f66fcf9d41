"""A seed determines the history, in every process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.simulation.histories import history_of

ROOT = Path(__file__).parents[2]

# Only a few, because each takes two seconds.
HASH_SEEDS = ("0", "1", "4711")


def histories(seed: int) -> Iterator[str]:
    """The digests from separate processes, each with its own hash seed for strings."""
    program = [sys.executable, "-m", "tests.simulation.histories", "--seed", str(seed)]
    for hash_seed in HASH_SEEDS:
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
        finished = subprocess.run(
            program, check=True, capture_output=True, text=True, cwd=ROOT, env=environ
        )
        yield finished.stdout.strip()


def test_the_same_seed_gives_the_same_history_twice_in_one_process() -> None:
    assert history_of(5) == history_of(5)


def test_another_seed_gives_another_history() -> None:
    assert history_of(5) != history_of(6)


def test_the_same_seed_gives_the_same_history_in_every_process() -> None:
    assert set(histories(5)) == {history_of(5)}
