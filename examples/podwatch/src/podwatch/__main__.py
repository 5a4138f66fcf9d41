"""``python -m podwatch``: watch the Pods of a cluster until Ctrl-C."""

import asyncio
import io
import sys
from argparse import ArgumentParser
from pathlib import Path

from steersman.errors import SteersmanError

from podwatch.podwatch import main

if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m podwatch", description="Print the changes of Pods.")
    parser.add_argument("-kubeconfig", "--kubeconfig", type=Path, help="as for kubectl")
    parser.add_argument(
        "-master", "--master", metavar="URL", help="the API server, in place of the kubeconfig's"
    )
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # in a pipe, too
    try:
        asyncio.run(main(arguments.kubeconfig, arguments.master))
    except KeyboardInterrupt:
        sys.exit(130)
    except SteersmanError as error:
        sys.exit(f"error: {error}")
