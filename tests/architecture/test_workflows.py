"""The workflows of the repository follow the rules against theft of publishing rights."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tools.workflows import ACTIONS, DIGEST, GITHUB, TEMPLATE, WORKFLOW, Unpinned, pinned

FILES = [TEMPLATE, *sorted((GITHUB / "workflows").iterdir())]

EVENTS = {"push", "pull_request"}


def parsed(text: str) -> dict[str, Any]:
    # In YAML 1.1, `on` is true.
    return {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}


def violations(text: str) -> Iterator[str]:
    workflow = parsed(text)
    events = workflow["on"] if isinstance(workflow["on"], dict) else {workflow["on"]: None}
    if not set(events) <= EVENTS:
        yield f"runs on {', '.join(sorted(set(events) - EVENTS))}"
    if workflow.get("permissions") != {"contents": "read"}:
        yield "the default permissions are not contents: read"
    for name, job in workflow["jobs"].items():
        granted = job.get("permissions", {})
        if granted not in ({}, {"id-token": "write"}):
            yield f"{name} has the permissions {granted}"
        if granted and job.get("environment") != "release":
            yield f"{name} gets an OIDC token outside of the environment"
        if granted and any("make" in step.get("run", "") for step in job["steps"]):
            yield f"{name} builds, and gets an OIDC token"
    if "secrets." in text:
        yield "uses a secret"
    if re.search(r"cache", text):
        yield "uses a cache"
    if "${{" in text:
        yield "contains an expression, whose value could become code"


def actions(text: str) -> list[str]:
    steps = [step for job in parsed(text)["jobs"].values() for step in job["steps"]]
    return [step["uses"] for step in steps if "uses" in step]


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.name)
def test_a_workflow_follows_the_rules(file: Any) -> None:
    assert list(violations(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("  push:\n", "  pull_request_target:\n"),
        ("contents: read", "contents: write"),
        ("      id-token: write", "      id-token: write\n      contents: write"),
        ("    environment: release\n", ""),
        ("          mkdir upload", "          make release"),
        ("timeout-minutes: 15", "env: {TOKEN: secrets.TOKEN}"),
        ("      - run: make test", "      - uses: actions/cache"),
        ("make test", "echo ${{ github.ref }}"),
    ],
)
def test_a_workflow_that_breaks_a_rule_is_reported(right: str, wrong: str) -> None:
    text = TEMPLATE.read_text(encoding="utf-8")

    assert right in text
    assert list(violations(text.replace(right, wrong, 1))) != []


@pytest.mark.parametrize("file", FILES[1:], ids=lambda each: each.name)
def test_every_action_of_an_enabled_workflow_has_a_digest(file: Any) -> None:
    for action in actions(file.read_text(encoding="utf-8")):
        assert DIGEST.fullmatch(action.partition("@")[2]), action


def test_the_release_workflow_exists_only_with_the_digests_of_all_its_actions() -> None:
    template, table = (each.read_text(encoding="utf-8") for each in (TEMPLATE, ACTIONS))

    try:
        expected: str | None = pinned(template, table)
    except Unpinned:
        expected = None

    assert (WORKFLOW.read_text(encoding="utf-8") if WORKFLOW.exists() else None) == expected


def test_the_table_has_exactly_the_actions_of_the_release_workflow() -> None:
    table = ACTIONS.read_text(encoding="utf-8")

    assert sorted(actions(TEMPLATE.read_text(encoding="utf-8"))) == sorted(
        re.findall(r'^\[actions\."(.+)"\]$', table, re.MULTILINE)
    )


def test_a_complete_table_pins_each_action_to_its_digest() -> None:
    digest = "0123456789abcdef" * 2 + "01234567"
    table = re.sub(r'release = ".*"', 'release = "v1"', ACTIONS.read_text(encoding="utf-8"))
    filled = re.sub(r'digest = ".*"', f'digest = "{digest}"', table)

    text = pinned(TEMPLATE.read_text(encoding="utf-8"), filled)

    assert {each.partition("@")[2] for each in actions(text)} == {digest}
    assert f"@{digest} # v1\n" in text


@pytest.mark.parametrize("digest", ["", "v4", "0123456"])
def test_a_table_without_a_complete_digest_is_rejected(digest: str) -> None:
    table = re.sub(r'release = ".*"', 'release = "v1"', ACTIONS.read_text(encoding="utf-8"))

    with pytest.raises(Unpinned, match="cannot be enabled"):
        pinned(
            TEMPLATE.read_text(encoding="utf-8"),
            re.sub(r'digest = ".*"', f'digest = "{digest}"', table),
        )
