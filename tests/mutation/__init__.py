"""``python -m tests.mutation``: delete each rule of the built-in kinds once; list the survivors.

Takes:     the source of ``apiserver/builtin``, and the tests of ``make test`` that reach its rules
Gives:     the verdict on each mutant, and the share of those that a test kills
Promises:  - each mutant lacks exactly one rule or default
           - a mutant survives only if all tests that reach it pass with it
           - the same source gives the same mutants, and a sample depends on its seed only
Never:     writes to a file of the tree, or starts a real server

The modules are imported once, with a switch for each rule: ``rule_mutants`` puts the calls of
``switches`` into their syntax trees. pytest collects the tests once, and runs them once to find out
which mutants each test reaches: those where its run would differ. A forked process then activates
the switch of one mutant and runs these tests, the fastest first, until one fails. Nothing that was
computed before may hide a mutant: no rule runs during an import, fixtures are set up again in each
process, and the caches with results of rules are cleared. A process that takes more than a minute
of CPU time counts as killed.
"""
