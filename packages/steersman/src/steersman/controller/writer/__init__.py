"""The writes of a controller, without those that would change nothing.

Takes:     objects, patches and statuses, with the object that owns them
Gives:     requests to the server, and the objects as they are after them
Promises:  - a target is not settled between a request and its response
           - a target is not settled for another body
Never:     writes to another object of the same name, or takes over an object that another owner
           controls
"""

__all__: list[str] = []  # steersman.controller exports the public names
