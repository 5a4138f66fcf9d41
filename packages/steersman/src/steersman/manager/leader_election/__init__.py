"""Leader election: replicas share a Lease, and only the replica that holds the Lease writes.

    leadership ─▶ election      reads and writes the Lease; the rules, which do no I/O
    fence                       lets a write pass only while the lease is certainly held

Takes:     a client, an identity, and the durations of a lease
Gives:     a term of leadership as ``async with``, and a transport behind a fence
Promises:  - a write of a replica that no longer leads is not sent
           - the lease is released after the last worker has ended
Never:     compares a timestamp of another machine with its own clock
"""

__all__: list[str] = []
