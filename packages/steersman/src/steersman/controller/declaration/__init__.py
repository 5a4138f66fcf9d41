"""What a controller declares: the kinds that it owns, watches, reads and writes.

Takes:     kinds, verbs, mappings and sources, as an author writes them in a ``Controller``
Gives:     which kinds are cached, with which indexes, and what a context may read and write
Promises:  - an undeclared verb is refused with what to declare
           - several rules of one kind add up
Never:     talks to a server, or calls a function of the author's
"""

__all__: list[str] = []  # what is public, steersman.controller offers
