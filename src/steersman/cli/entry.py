"""``steersman``, and where its commands come from."""

import sys
from importlib.util import find_spec
from io import TextIOWrapper
from typing import TextIO

from steersman.errors import BadSettings, BadValue, EditedByHand, SteersmanError


def main() -> None:
    """Run the command that the arguments name."""
    for stream in (sys.stdout, sys.stderr):
        write_any_letter(stream)
    if find_spec("click") is None:  # not everyone who has steersman has its command line
        sys.stderr.write(
            "steersman: the command line needs click, which is not installed\n"
            "\nhint: pip install 'steersman[dev]'\n"
        )
        sys.exit(1)
    from steersman.cli.commands import steersman

    try:
        steersman(prog_name="steersman")
    except SteersmanError as error:
        if isinstance(error, EditedByHand):
            sys.stderr.write(f"{error.diff}\n")
        sys.stderr.write(f"steersman: {error}\n")
        # A name or a value that cannot be was written on the command line.
        sys.exit(2 if isinstance(error, BadSettings | BadValue) else 1)


def write_any_letter(stream: TextIO) -> None:
    """Have it take every letter, whatever the locale knows.

    A terminal shows ``?`` for those that it lacks. A pipe or a file gets UTF-8, which is what YAML,
    JSON and whoever reads them are in.
    """
    if not isinstance(stream, TextIOWrapper):
        return
    if stream.isatty():
        stream.reconfigure(errors="replace")
    else:
        stream.reconfigure(encoding="utf-8")
