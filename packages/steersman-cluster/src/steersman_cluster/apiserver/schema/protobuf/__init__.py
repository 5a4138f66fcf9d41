"""Protobuf, which Kubernetes' own clients send and ask for.

Takes:     messages of built-in kinds, or objects as JSON has them
Gives:     the other form
Promises:  - a message that cannot be read is refused
Never:     knows a custom resource: those have no protobuf
"""

__all__: list[str] = []
