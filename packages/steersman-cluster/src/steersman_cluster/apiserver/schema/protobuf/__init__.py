"""Decoding of protobuf, which Kubernetes' own clients send and accept.

Takes:     messages of built-in kinds, or objects as plain JSON
Gives:     the other form
Promises:  - an invalid message is rejected
Never:     handles a custom resource, which has no protobuf message
"""

__all__: list[str] = []
