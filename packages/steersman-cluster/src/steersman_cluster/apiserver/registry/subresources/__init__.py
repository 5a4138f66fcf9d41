"""The subresources, parts of objects and actions on them, each with a handler of its own.

Takes:     requests for ``scale``, ``eviction``, ``binding``, ``token``, ``log``, ``exec``
Gives:     their answers
Promises:  - a scale from an old version is a conflict
Never:     handles a request for a whole object
"""

__all__: list[str] = []
