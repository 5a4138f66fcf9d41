"""robot-operator: a controller of Robots, written with informers, listers and a work queue.

``robot`` is the kind, ``controller`` the controller, and ``__main__`` the program.
"""
