"""The built-in admission plugins, which check an object against objects of other kinds.

Takes:     a new object, the object that it replaces, and access to other stored objects
Gives:     the object with what the plugins set, or the reason why they reject it
Promises:  - a Pod without requests gets the defaults and an annotation
           - a write that exceeds a quota is rejected
           - a Pod that violates the enforced standard is rejected with every reason
Never:     writes: it returns charged quotas, and the registry stores them
"""

__all__: list[str] = []
