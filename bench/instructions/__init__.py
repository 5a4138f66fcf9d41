"""The number of instructions of small, fixed workloads. A check fails if one of them grows.

Each workload runs twice. The first run uses the embedded API server, and records each reply and its
time. The second run replays these replies without a server, under valgrind, which counts the
instructions. Both use virtual time, so the count does not depend on the load of the machine.
"""
