"""Runs of a scenario: one without a fault, and one with a fault at each possible point.

Takes:     a ``Scenario``: a function that builds operators, their kinds, and the steps
Gives:     ``survives_…``, which compare the final state of each run with that of the first
Promises:  - a failure is replayed by its seed and fault
Never:     shows the value of a Secret
"""

__all__: list[str] = []  # steersman_cluster.simulation exports the public names
