"""Kinds about storage: volumes, volume claims, storage classes, and drivers.

Takes:     objects of these kinds
Gives:     their rules
Promises:  - a new volume is pending and has the protection finalizer
           - the mode of a volume is immutable
           - a bound claim cannot request less than its capacity
Never:     accesses the data on a volume
"""

__all__: list[str] = []
