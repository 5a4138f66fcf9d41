"""``python -m steersman.kinds.generate``: write the modules of built-in kinds from the facts."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from steersman.kinds.generate.builtin import builtin_sources
from steersman.openapi import Facts, load_all_facts

KINDS = Path(__file__).parents[1]


def main(
    arguments: Sequence[str], *, facts: Mapping[str, Facts] | None = None, kinds: Path = KINDS
) -> int:
    """Write the modules; with ``--check``, list the modules that would change."""
    parser = argparse.ArgumentParser(prog="python -m steersman.kinds.generate")
    parser.add_argument("--check", action="store_true", help="fail if a module is out of date")
    check = parser.parse_args(arguments).check
    facts = load_all_facts() if facts is None else facts
    if not facts:
        parser.error("no facts in steersman.openapi; run `python -m tools.openapi`")
    sources = {kinds / f"{name}.py": text for name, text in builtin_sources(facts).items()}
    stale = [path for path, text in sources.items() if _read(path) != text]
    gone = [path for path in kinds.glob("*_v[0-9].py") if path not in sources]
    if check and stale + gone:
        names = ", ".join(sorted(path.name for path in stale + gone))
        sys.stderr.write(
            f"out of date: {names}\n\nhint: run `python -m steersman.kinds.generate`\n"
        )
        return 1
    for path in stale:
        path.write_text(sources[path], encoding="utf-8")
    for path in gone:
        path.unlink()
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
