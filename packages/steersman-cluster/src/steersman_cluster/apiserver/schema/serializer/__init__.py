"""Decoding of request bodies: from bytes to an object, with the result of Go's decoder.

Takes:     a body in JSON, YAML or protobuf, and the kind that is expected
Gives:     the object, with its problems as warnings or an error
Promises:  - a body decodes to an object or is rejected
Never:     applies the rules of a kind

``canonical`` decodes regular bodies. ``inspection`` decodes all others, and finds the error texts.
"""

__all__: list[str] = []
