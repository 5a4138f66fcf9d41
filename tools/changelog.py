"""``python -m tools.changelog VERSION DATE``: build a release's section from its fragments.

The fragments in ``changes/`` become the newest section of ``CHANGELOG.md``, and are removed.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]

HEADINGS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}


def section(version: str, date: str, fragments: Mapping[str, str]) -> str:
    """The section of one release; ``fragments`` maps file names to their text."""
    parts = [f"## {version} ({date})"]
    for kind, heading in HEADINGS.items():
        entries = [
            f"- {' '.join(text.split())}"
            for name, text in sorted(fragments.items())
            if name.endswith(f".{kind}.md")
        ]
        if entries:
            parts.append("\n".join([f"### {heading}", "", *entries]))
    return "\n\n".join(parts) + "\n"


def with_release(changelog: str, newest: str) -> str:
    """The changelog with a further section at the top."""
    introduction, mark, older = changelog.partition("\n## ")
    return f"{introduction.rstrip()}\n\n{newest}" + (f"{mark}{older}" if mark else "")


def fragments_in(root: Path) -> dict[str, str]:
    """The fragments in ``changes/`` of a tree: file names, and their text."""
    files = sorted((root / "changes").glob("*.md"))
    return {
        path.name: path.read_text(encoding="utf-8") for path in files if path.name != "README.md"
    }


def main(version: str, date: str, *, root: Path = ROOT) -> None:
    """Move the fragments to the changelog."""
    fragments = fragments_in(root)
    changelog = root / "CHANGELOG.md"
    changed = with_release(changelog.read_text(encoding="utf-8"), section(version, date, fragments))
    changelog.write_text(changed, encoding="utf-8")
    for name in fragments:
        (root / "changes" / name).unlink()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tools.changelog VERSION DATE")
    main(*sys.argv[1:])
