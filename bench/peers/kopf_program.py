"""``python -m bench.peers.kopf_program …``: run ``kopf …`` without the official client.

kopf imports the official client if it is installed, as it is here for another contender. Flags of
the other operators that ``kopf run`` lacks become variables for ``kopf_operator.py``.
"""

import os
import sys

sys.modules["kubernetes"] = None  # type: ignore[assignment]

from kopf.cli import main  # noqa: E402

VARIABLES = {
    "--starts": "STARTS",
    "--sleep-ms": "SLEEP_MS",
    "--resync-seconds": "RESYNC_SECONDS",
}


def take_flags(arguments: list[str]) -> None:
    """Move the flags that kopf does not have from the arguments to the environment."""
    for flag, variable in VARIABLES.items():
        if flag in arguments:
            at = arguments.index(flag)
            os.environ[variable] = arguments[at + 1]
            del arguments[at : at + 2]


if __name__ == "__main__":
    take_flags(sys.argv)
    main()
