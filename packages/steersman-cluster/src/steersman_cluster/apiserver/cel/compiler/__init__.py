"""The compiler: from the text of an expression to closures that evaluate it.

Takes:     the text, and the types of its variables
Gives:     a checked tree, and the steps that evaluate it and count the cost
Promises:  - what the real server would not compile is refused with its words
Never:     evaluates anything

``parser`` and ``macros`` build the tree, ``checker`` determines its types from ``declarations``,
and ``planner`` turns the tree into ``steps``.
"""

__all__: list[str] = []
