"""The control loop: workers take keys, call the reconcile function and requeue failed keys.

Takes:     a ``Controller``, informers, a writer and a recorder
Gives:     a ``ControlLoop`` that reconciles until it is stopped
Promises:  - ``Later`` without a time waits for a change
           - repeated conflicts record an event
Never:     reconciles an object in two workers, or lets a hanging object delay the others
"""

__all__: list[str] = []  # steersman.controller exports the public names
