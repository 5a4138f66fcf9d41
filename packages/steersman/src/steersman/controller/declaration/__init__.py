"""The declaration of a controller: the kinds that it owns, watches, reads and writes.

Takes:     kinds, verbs, mappings and sources, as the operator author writes them in a
           ``Controller``
Gives:     which kinds are cached, with which indexes, and what a context may read and write
Promises:  - an undeclared verb is rejected with the rule to declare
           - several rules of one kind add up
Never:     talks to a server, or calls a function of the operator author
"""

__all__: list[str] = []  # steersman.controller exports the public names
