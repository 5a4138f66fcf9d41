"""The objects and the fields that belong to a controller.

Takes:     owner references and ``managedFields``
Gives:     objects with an owner reference, the owner that controls an object, and the fields that
           a manager holds
Promises:  - an owner in another namespace is rejected
           - fields that other managers added do not count as different
Never:     writes to the server
"""

__all__: list[str] = []  # steersman.controller exports the public names
