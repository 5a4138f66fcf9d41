"""``python -m tests.mutation.runtime``: change random lines of the runtime; list the survivors.

Takes:     the functions of wire, client, watch, cache, workqueue, controller and manager, the tests
           that run them in this process, and a seed
Gives:     the mutants that no test kills, and the share of the others
Promises:  - a mutant differs from the source in one node of the code of a function
           - each line with code is equally probable, and the same seed gives the same mutants
           - a mutant runs only the tests that cover its line, unit tests of its package first
           - a test kills a mutant only if it passes without the mutant
Never:     changes docstrings, annotations, ``__repr__``, or the texts of errors and observations,
           writes to a file of the source, or starts a real server

pytest collects all tests once. Each mutant runs in a fork of that process, in which the functions
get the code of the mutant, so that a mutant costs hardly more than its tests. ``--measure`` first
measures with coverage which tests run which line, and stores the result in ``.coverage-map``.
Measure again after a change of the source or of the tests.

A mutant also survives if its tests take longer than a minute of CPU time. A test that takes
longer than its limit kills the mutant; the output lists these as timeouts.
"""
