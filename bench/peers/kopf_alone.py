"""``python -m bench.peers.kopf_alone …``: ``kopf …``, as if the official client were not installed.

kopf loads it wherever it finds it, and the peers' environment has it for another peer.
"""

import sys

sys.modules["kubernetes"] = None  # type: ignore[assignment]

from kopf.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
