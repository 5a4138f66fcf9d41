"""What the real server responded: one file for each group of scenarios.

A group is a kind, such as ``apps/v1/deployments``, or the first word of the scenarios' names.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from tests.recorded.differential.normal import NormalizedResponse
from tests.recorded.differential.replay import Transcript
from tests.recorded.differential.scenario import Scenario
from tests.recorded.recordings import (
    SUFFIX,
    RecordingError,
    read_recording,
    write_recording,
)

RECORDINGS = Path(__file__).with_name("recordings")

# A test module for each, so that several processes share the groups.
Area: TypeAlias = Literal["core", "workloads", "other kinds", "general"]
WORKLOADS = ("apps/", "autoscaling/", "batch/", "policy/")

_KIND = re.compile(r"[^/]+/v\d+\w*/[^/]+")


def group_of(scenario: str) -> str:
    """The group of the scenario of this name."""
    kind = _KIND.match(scenario)
    return kind[0] if kind else scenario.partition("/")[0]


def area_of(group: str) -> Area:
    """The area of a group."""
    if group.startswith("core/"):
        return "core"
    if group.startswith(WORKLOADS):
        return "workloads"
    return "other kinds" if ".k8s.io/" in group else "general"


def recorded_groups(directory: Path = RECORDINGS) -> list[str]:
    """The groups that have a recording, sorted."""
    files = directory.rglob(f"*{SUFFIX}")
    return sorted(str(file.relative_to(directory)).removesuffix(SUFFIX) for file in files)


def recorded_transcript(group: str, directory: Path = RECORDINGS) -> Transcript:
    """The recorded responses to the scenarios of a group; empty without a recording."""
    return {
        scenario: {
            request: NormalizedResponse(status=status, headers=headers, body=body)
            for request, (status, headers, body) in responses.items()
        }
        for scenario, responses in read_recording(directory / f"{group}{SUFFIX}").items()
    }


def record_transcript(group: str, transcript: Transcript, directory: Path = RECORDINGS) -> None:
    """Write the responses to the scenarios of a group."""
    cases = {
        scenario: {
            request: [response.status, response.headers, response.body]
            for request, response in responses.items()
        }
        for scenario, responses in transcript.items()
    }
    write_recording(directory / f"{group}{SUFFIX}", cases)


def delete_recordings(groups: Iterable[str], directory: Path = RECORDINGS) -> None:
    """Delete the recordings of these groups."""
    for group in groups:
        (directory / f"{group}{SUFFIX}").unlink()


def check_complete(group: str, scenarios: Sequence[Scenario], recorded: Transcript) -> None:
    """Raise ``RecordingError`` unless each request of the group has a recording, and vice versa."""
    wanted = {f"{each.name}:{request.name}" for each in scenarios for request in each.requests}
    found = {f"{name}:{request}" for name, responses in recorded.items() for request in responses}
    if missing := wanted - found:
        raise RecordingError(
            f"{group} has {len(missing)} cases without a recording: {_few(missing)}"
        )
    if unused := found - wanted:
        raise RecordingError(
            f"{group} has {len(unused)} recordings that no case asks for: {_few(unused)}"
        )


def _few(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:5])
