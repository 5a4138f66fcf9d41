"""What a controller writes, and what it need not send.

Takes:     objects, patches and statuses, with the object that owns them
Gives:     requests to the server, and the objects as they are after them
Promises:  - nothing is settled between a sending and its answer
           - another body is not settled
Never:     writes to another object of the same name, or takes over what a stranger controls
"""

__all__: list[str] = []  # what is public, steersman.controller offers
