"""The program ``steersman``: runs a command, and exits with the status for its errors."""

import sys
from importlib.util import find_spec
from io import TextIOWrapper
from typing import TextIO


def main() -> None:
    """Run the command that the command-line arguments name."""
    for stream in (sys.stdout, sys.stderr):
        write_any_letter(stream)
    if find_spec("click") is None:  # not a dependency of the base installation
        sys.stderr.write(
            "steersman: the command line needs click, which is not installed\n"
            "\nhint: pip install 'steersman[cli]'\n"
        )
        sys.exit(1)
    from steersman.cli.commands import steersman

    try:
        steersman(prog_name="steersman")
    except Exception as error:
        # Imported here, because help does not need it.
        from steersman.errors import EditedByHand, SteersmanError

        if not isinstance(error, SteersmanError):
            raise
        if isinstance(error, EditedByHand):
            sys.stderr.write(f"{error.diff}\n")
        sys.stderr.write(f"steersman: {error}\nsee: steersman explain {error.explained_as}\n")
        sys.exit(exit_status(type(error)))


def exit_status(error: type[Exception]) -> int:
    """Return the exit status of the program after an error of this class."""
    from steersman.errors import BadSettings, BadValue

    # A bad name or value comes from the command line.
    return 2 if issubclass(error, BadSettings | BadValue) else 1


def write_any_letter(stream: TextIO) -> None:
    """Configure ``stream`` to accept every character, whatever the locale's encoding is.

    A terminal shows ``?`` for characters that its encoding lacks. A pipe or a file receives UTF-8,
    because YAML, JSON and the programs that read them use UTF-8.
    """
    if not isinstance(stream, TextIOWrapper):
        return
    if stream.isatty():
        stream.reconfigure(errors="replace")
    else:
        stream.reconfigure(encoding="utf-8")
