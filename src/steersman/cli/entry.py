"""``steersman``, and where its commands come from."""

import sys
from importlib.util import find_spec

from steersman.errors import BadSettings, BadValue, EditedByHand, SteersmanError


def main() -> None:
    """Run the command that the arguments name."""
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
