"""The server's own admission plugins: what objects of one kind ask of those of another.

Takes:     a new object, the one that it replaces, and what is around them
Gives:     what the object is given because of those, or why it is refused
Promises:  - who asks for nothing gets what is usual and is told
           - what is more than is left is refused
           - a Pod that breaks what is enforced is refused with every reason
Never:     writes: a quota that is charged is given back to the verb, which does
"""

__all__: list[str] = []
