"""Paths as people would write them."""

from pathlib import Path


def shown_path(path: Path) -> str:
    """The path from here, if it is below; else all of it."""
    whole = path.absolute()
    here = Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(whole)
