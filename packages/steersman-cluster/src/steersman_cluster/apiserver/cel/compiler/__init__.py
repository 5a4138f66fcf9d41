"""The compiler: from the text of an expression to closures that evaluate it.

Takes:     the text, and the types of its variables
Gives:     a checked tree, and the steps that evaluate the expression and count the cost
Promises:  - an expression that kube-apiserver rejects is rejected with the same message
Never:     evaluates an expression, except for its constant parts

``parser`` and ``macros`` build the tree, ``checker`` determines its types from ``declarations``,
and ``planner`` turns the tree into ``steps``.
"""

__all__: list[str] = []
