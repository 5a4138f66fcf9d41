"""The status of an object in the form that is applied.

Takes:     the status that a reconcile function returns, and the object that it is about
Gives:     the status with ``observedGeneration`` and the transition times of its conditions
Promises:  - a changed condition gets the current time and an unchanged one keeps its time
           - a given transition time is kept in whole seconds
Never:     sends a request to the server, or reads a clock
"""

__all__: list[str] = []  # what is public, steersman.controller offers
