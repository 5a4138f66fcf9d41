"""The example projects, found in the source tree or in the installed wheel."""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from steersman_cluster.errors import UnknownExample

DEMO: Final = "demo.py"

_HERE: Final = Path(__file__).parent


def examples(*, package: Path = _HERE) -> dict[str, Path]:
    """Return the directory of each example that has a demo, by the example's name."""
    packaged = package / "examples"
    home = packaged if packaged.is_dir() else (package.parents[2] / "examples").resolve()
    return {each.parent.name: each.parent for each in sorted(home.glob(f"*/{DEMO}"))}


def find_example(name: str) -> Path:
    """Return the directory of the example ``name``; raise ``UnknownExample`` if there is none."""
    found = examples()
    if name not in found:
        raise UnknownExample(
            name=name,
            known=tuple(found),
            like=next(iter(get_close_matches(name, found, n=1)), None),
        )
    return found[name]
