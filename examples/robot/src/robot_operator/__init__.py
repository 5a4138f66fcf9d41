"""robot-operator: robots, by the pieces of which every controller is made.

``robot`` is the kind, ``controller`` what looks after its objects, ``__main__`` the program.
"""
