"""``python -m tools.workflows``: write the release workflow with the digests of its actions.

``.github/actions.toml`` has the digests. As long as one is empty, this program refuses to write the
workflow, and a test fails if the file exists.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
ACTIONS = GITHUB / "actions.toml"
TEMPLATE = GITHUB / "release.yaml.in"
WORKFLOW = GITHUB / "workflows" / "release.yaml"

DIGEST = re.compile(r"[0-9a-f]{40}")
USES = re.compile(r"^( *- uses: )(\S+)$", re.MULTILINE)


class Unpinned(Exception):
    """Actions without the digest of a commit and the name of its release."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        super().__init__(
            f"{', '.join(names)} have no digest or no release in .github/actions.toml, so the"
            " workflow cannot be enabled. Review each action at the commit of a release, and fill"
            " in both."
        )


def pinned(template: str, actions: str) -> str:
    """The workflow in ``template`` with the digests in ``actions``."""
    entries = tomllib.loads(actions)["actions"]
    used = [name for _, name in USES.findall(template)]
    unpinned = sorted(
        name
        for name in {*used, *entries}
        if name not in entries
        or not DIGEST.fullmatch(entries[name]["digest"])
        or not entries[name]["release"]
    )
    if unpinned:
        raise Unpinned(unpinned)
    return USES.sub(
        lambda use: f"{use[1]}{use[2]}@{entries[use[2]]['digest']} # {entries[use[2]]['release']}",
        template,
    )


def main() -> None:
    """Write the workflow."""
    try:
        text = pinned(TEMPLATE.read_text(encoding="utf-8"), ACTIONS.read_text(encoding="utf-8"))
    except Unpinned as unpinned:
        sys.exit(str(unpinned))
    WORKFLOW.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
