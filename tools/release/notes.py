"""The release notes: the section of the changelog that describes a version."""

import re
from pathlib import Path

from tools.changelog import fragments_in, section
from tools.release.failure import ReleaseFailure


def release_notes(root: Path, version: str, *, date: str) -> str:
    """The notes of a version: of the fragments in ``changes/``, or else of ``CHANGELOG.md``."""
    fragments = fragments_in(root)
    if fragments:
        return section(version, date, fragments)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(version)} \(.*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise ReleaseFailure(
            problem=f"neither changes/ nor CHANGELOG.md says what is new in {version}",
            what_now="Add a fragment to changes/, as changes/README.md describes.",
        )
    return found[0]
