"""What all kinds share: metadata, names, errors, and the interface of a kind's strategy.

Takes:     objects and names, in plain JSON
Gives:     field errors, ``Status`` errors, validated metadata, the interface of a kind's strategy
Promises:  - the server sets the system fields of a new object
Never:     reads the store, or depends on a particular kind

Error texts follow Go: ``go_messages`` formats values as Go's ``fmt`` and JSON packages do.
"""

__all__: list[str] = []
