"""``python -m tests.mutation``: delete each rule of the built-in kinds once; list the survivors.

Takes:     the source of ``apiserver/builtin``, and the tests that ``make test`` runs on it
Gives:     the mutants that no test kills, and their share
Promises:  - each mutant lacks exactly one rule or default
           - a mutant survives only if all tests of the built-in kinds pass with it
           - the same source gives the same mutants, and a sample depends on its seed only
Never:     writes to a file of the tree, or starts a real server

A mutant is imported in a process of its own. The tests whose recordings contain the texts of the
deleted rule run first, because one of them usually fails; the other tests follow only if none does.
"""
