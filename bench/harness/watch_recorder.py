"""``python -m bench.harness.watch_recorder KUBECONFIG PATH FILE``: record the events of a watch.

The program records the events for every operator in the same way, in a separate process. Each event
is a line of FILE: its time on the monotonic clock, the name of the object, and the replicas in its
spec. The program prints ``watching`` when the watch is open.
"""

import sys
import time
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import TextIO

import msgspec

from bench.harness.load import Destination


class Metadata(msgspec.Struct):
    """The name of the object."""

    name: str


class Spec(msgspec.Struct):
    """The desired replicas."""

    replicas: int = 0


class Seen(msgspec.Struct):
    """The recorded parts of an object."""

    metadata: Metadata
    spec: Spec


class Event(msgspec.Struct):
    """A watch event."""

    type: str
    object: Seen


def watch(to: Destination, path: str, notes: TextIO) -> None:
    """Record events until the process ends."""
    decoder = msgspec.json.Decoder(Event)
    with closing(HTTPSConnection(to.host, to.port, context=to.tls)) as connection:
        headers = {"Authorization": f"Bearer {to.token}", "Accept": "application/json"}
        connection.request("GET", f"{path}?watch=true", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"a watch of {path}: status {response.status}")
        print("watching", flush=True)
        while line := response.readline():
            at = time.monotonic()
            seen = decoder.decode(line).object
            notes.write(f"{at:.6f} {seen.metadata.name} {seen.spec.replicas}\n")
    raise AssertionError(f"a watch of {path} has ended")


if __name__ == "__main__":
    kubeconfig, collection, file = sys.argv[1:]
    with Path(file).open("w", buffering=1) as lines:
        watch(Destination.of(Path(kubeconfig)), collection, lines)
