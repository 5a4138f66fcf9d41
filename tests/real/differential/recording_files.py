"""Transcripts of a real server in files, for runs without one."""

import gzip
import json
from dataclasses import asdict
from pathlib import Path

from tests.real.differential.normal import NormalizedResponse
from tests.real.differential.replay import Transcript


def write_recording(path: Path, transcript: Transcript) -> None:
    """Write a transcript to a file."""
    plain = {
        scenario: {request: asdict(response) for request, response in requests.items()}
        for scenario, requests in transcript.items()
    }
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(plain, file, ensure_ascii=False)


def read_recording(path: Path) -> Transcript:
    """Read a transcript from a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        plain = json.load(file)
    return {
        scenario: {
            request: NormalizedResponse(**response) for request, response in requests.items()
        }
        for scenario, requests in plain.items()
    }
