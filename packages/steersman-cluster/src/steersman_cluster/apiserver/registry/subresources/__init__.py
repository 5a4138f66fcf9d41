"""The handlers of subresources.

Takes:     requests for ``scale``, ``eviction``, ``binding``, ``token``, ``log``, ``exec``
Gives:     their responses
Promises:  - a write of an outdated Scale is a conflict
Never:     handles a request for a whole object
"""

__all__: list[str] = []
