"""Demos of operators: each shows what users do, and how the operator responds.

Each example project has a ``demo.py`` that contains a ``Demo``. ``steersman demo NAME`` starts a
new cluster, runs the demo's manager and its steps on the cluster, and shows all changes. A test can
run the same steps on a simulated cluster, in virtual time.

Takes:     a manager, the kinds to show, and steps; a client for the steps, and an output
Gives:     the examples by name; a ``DemoContext`` with the methods that steps call; objects from
           files, applied as ``kubectl apply`` does
Promises:  - the result of a step is shown before the next step begins
           - every wait of a demo has a timeout
           - a rejection in a demo is a rejection by the server
           - an example is found in the source tree and in a wheel
Never:     runs an operator, prints, or changes an object that no step names
"""

from steersman_cluster.demos.catalog import Demo, examples, find_example
from steersman_cluster.demos.context import DemoContext
from steersman_cluster.demos.samples import ENDINGS, apply_file

__all__ = [
    "ENDINGS",
    "Demo",
    "DemoContext",
    "apply_file",
    "examples",
    "find_example",
]
