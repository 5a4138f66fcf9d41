"""Tables of the supported versions, from the recorded test runs in ``docs/versions``.

``make test-pythons`` writes ``pythons.json``, and ``make test-kubernetes`` ``kubernetes.json``.
Both map each minor version to the last run on it:

    {"3.11": {"version": "3.11.7", "committed": "2026-11-19", "passed": 20000, "failed": 0,
              "skipped": {"the reason": 12}}}

``committed`` is the date of the tested commit. ``flaky``, if any, has the names of tests that
passed when they ran again, alone; they are counted as passed.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "versions"

NO_RUN = "no recorded run"

TITLES = {"pythons": "Python", "kubernetes": "Kubernetes"}


def supported_pythons(distribution: str = "steersman") -> list[str]:
    """The minor versions in the classifiers of a distribution."""
    text = (ROOT / "packages" / distribution / "pyproject.toml").read_text(encoding="utf-8")
    classifiers: list[str] = tomllib.loads(text)["project"]["classifiers"]
    found = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in classifiers
    )
    return [each[1] for each in found if each]


def versions_table(name: str, *, records: Path = RECORDS) -> str:
    """The table of ``name``, which is ``pythons`` or ``kubernetes``, as Markdown."""
    file = records / f"{name}.json"
    runs: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if name == "pythons":
        runs = {minor: runs.get(minor) for minor in supported_pythons()} | runs
    head = f"| {TITLES[name]} | tested version | commit of | passed | failed | skipped |"
    return "\n".join([head, "|---|---|---|---|---|---|", *_rows(runs)])


def _rows(runs: Mapping[str, Mapping[str, Any] | None]) -> Iterator[str]:
    for minor, run in sorted(runs.items(), key=lambda each: tuple(map(int, each[0].split(".")))):
        if run is None:
            yield f"| {minor} | {NO_RUN} | | | | |"
            continue
        skipped: Mapping[str, int] = run["skipped"]
        reasons = "; ".join(f"{number}: {reason}" for reason, number in skipped.items())
        cells = (run["version"], run["committed"], run["passed"], run["failed"], reasons or "0")
        yield f"| {minor} | {' | '.join(str(each).replace('|', '/') for each in cells)} |"
