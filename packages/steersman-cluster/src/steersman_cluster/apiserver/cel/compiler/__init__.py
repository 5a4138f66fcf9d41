"""From the text of an expression to closures that evaluate it.

Takes:     the text, and the types of its variables
Gives:     a checked tree, and the steps that evaluate it and count the cost
Promises:  - what the real server would not compile is refused with its words
Never:     evaluates anything

``parser`` and ``macros`` make the tree, ``checker`` finds its types by ``declarations``, and
``planner`` makes ``steps`` of it.
"""

__all__: list[str] = []
