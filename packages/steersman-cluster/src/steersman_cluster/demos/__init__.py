"""Operators shown at work: a story of what people do to their objects, and what they make of it.

Each example project has a ``demo.py`` with a ``Demo`` in it. ``steersman demo NAME`` runs its
manager on a cluster of its own, tells the story, and shows all that happens; a test can tell the
same story in a world in which time is a number.

Takes:     a manager, the kinds to look at, a story; a client to tell it through, and who listens
Gives:     the examples by their names, a ``Stage`` with what a story is told with, and objects from
           files, applied as ``kubectl apply`` would
Promises:  - the outcome of a step can be looked at before the next one is said
           - a story waits for nothing longer than it says
           - what a story says was refused has been refused
           - an example is found in the source tree and in a wheel
Never:     runs an operator, prints, or changes an object that a story does not name
"""

from steersman_cluster.demos.demo import Demo
from steersman_cluster.demos.finding import examples, find_example
from steersman_cluster.demos.samples import ENDINGS, apply_file
from steersman_cluster.demos.stage import Stage

__all__ = [
    "ENDINGS",
    "Demo",
    "Stage",
    "apply_file",
    "examples",
    "find_example",
]
