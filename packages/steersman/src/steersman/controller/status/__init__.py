"""An object's status, as it is applied.

Takes:     the status that a reconcile function gives, and the object that it is about
Gives:     the status with ``observedGeneration`` and the transition times of its conditions
Promises:  - a condition that flips is since now and another keeps its time
           - a time that is given stays to the second
Never:     asks the server, or reads a clock
"""

__all__: list[str] = []  # what is public, steersman.controller offers
