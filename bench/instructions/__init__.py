"""How many instructions small, fixed pieces of work take, so that none of them grows unseen.

A piece of work is done twice. It is rehearsed with the embedded API server behind it, and every
byte that comes back is written down with its moment. Then it is performed: the same bytes at the
same moments, with no server there, under valgrind, which counts. Time is a number throughout, so
the count is the same each time, however busy the machine is.
"""
