"""What all objects share: metadata, names, errors, and the rules that a kind may have.

Takes:     objects and names, in plain JSON
Gives:     errors of fields, ``Status`` answers, checked metadata, the interface of a kind's rules
Promises:  - a new object gets what only the server gives
Never:     reads the store, or knows a kind

Error texts follow Go: ``go_messages`` formats values as its ``fmt`` and JSON packages do.
"""

__all__: list[str] = []
