"""The command line: ``steersman`` and its commands.

Takes:     arguments
Gives:     data on stdout, everything else on stderr, and an exit status: 0, 1 (failed) or 2 (usage)
Promises:  - an error is one sentence and a hint that can be pasted
           - ctrl-c leaves nothing behind
           - what is refused leaves nothing half written
           - a save that does not load is shown and the next one is tried
Never:     does anything that a function of another package could not do for a program
"""

from steersman.cli.entry import main

__all__ = ["main"]
