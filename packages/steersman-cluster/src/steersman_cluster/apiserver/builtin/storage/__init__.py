"""Kinds about where data is kept: volumes, claims, classes, drivers.

Takes:     objects of these kinds
Gives:     their rules
Promises:  - a volume is pending since now and protected
           - the mode of a volume never changes
           - a claim that is bound may not become smaller than it is
Never:     knows what is on a disk
"""

__all__: list[str] = []
