"""The control loop: workers take keys, call the reconcile function and requeue what failed.

Takes:     a ``Controller``, informers, a writer and a recorder
Gives:     a ``ControlLoop`` that reconciles until it is stopped
Promises:  - later without a time waits for a change
           - repeated conflicts are an event
Never:     reconciles an object in two workers, or lets one that hangs hold up the rest
"""

__all__: list[str] = []  # what is public, steersman.controller offers
