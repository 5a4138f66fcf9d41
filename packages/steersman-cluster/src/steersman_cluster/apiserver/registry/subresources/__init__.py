"""The handlers of subresources.

Takes:     requests for ``scale``, ``eviction``, ``binding``, ``token``, ``log``, ``exec``
Gives:     their responses
Promises:  - a scale from an old version is a conflict
Never:     handles a request for a whole object
"""

__all__: list[str] = []
