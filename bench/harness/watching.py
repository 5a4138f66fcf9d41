"""``python -m bench.harness.watching KUBECONFIG PATH FILE``: what becomes of a collection.

One watch, in a process of its own that does nothing else, so that it tells of all operators alike.
Each event is a line of FILE: when it came, by the monotonic clock, the object's name, and how many
replicas it should have. Says so on standard output once it watches.
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
    """What is it called?"""

    name: str


class Spec(msgspec.Struct):
    """How many should there be?"""

    replicas: int = 0


class Seen(msgspec.Struct):
    """As much of an object as is written down."""

    metadata: Metadata
    spec: Spec


class Event(msgspec.Struct):
    """A line of the watch."""

    type: str
    object: Seen


def watch(to: Destination, path: str, notes: TextIO) -> None:
    """Until it is ended."""
    decoder = msgspec.json.Decoder(Event)
    with closing(HTTPSConnection(to.host, to.port, context=to.tls)) as connection:
        headers = {"Authorization": f"Bearer {to.token}", "Accept": "application/json"}
        connection.request("GET", f"{path}?watch=true", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"a watch of {path} was answered {response.status}")
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
