"""The stored objects of an informer: indexes, listers, and less memory for equal parts.

Takes:     decoded objects, and the author's index functions and transforms
Gives:     objects by name, namespace, label and index
Promises:  - an object has its key until it is removed
           - an index always returns the result of a full search
           - equal parts of equal values are shared
Never:     lists or watches, or copies the objects that it returns
"""

__all__: list[str] = []  # steersman.cache exports the public names
