"""From the bytes of a request to an object, as Go's decoder would leave it.

Takes:     a body in JSON, YAML or protobuf, and the kind that is expected
Gives:     the object, with what is wrong with it as warnings or an error
Promises:  - whatever is sent is an object or refused
Never:     knows what a kind's rules say

``canonical`` decodes what is regular, ``inspection`` the rest: it finds the error texts.
"""

__all__: list[str] = []
