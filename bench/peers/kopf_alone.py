"""``python -m bench.peers.kopf_alone …``: ``kopf …``, as if the official client were not installed.

kopf loads it wherever it finds it, and the peers' environment has it for another peer. Flags that
the other operators have, and ``kopf run`` has not, become variables for ``kopf_operator.py``.
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
    """Move what is not for kopf from its arguments to the environment."""
    for flag, variable in VARIABLES.items():
        if flag in arguments:
            at = arguments.index(flag)
            os.environ[variable] = arguments[at + 1]
            del arguments[at : at + 2]


if __name__ == "__main__":
    take_flags(sys.argv)
    main()
