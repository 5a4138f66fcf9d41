"""The command line: ``steersman`` and its commands.

    commands/creating       steersman.scaffold
    commands/generating     generating ─▶ steersman.manifests; models
    commands/running        running ─▶ connecting, installing
    commands/developing     developing ─▶ desk ─▶ operator_process ═▶ child, in another process
    commands/demonstrating      │          └▶ demo, saving, session ◀─ reports of the child
                                └▶ views ─▶ steersman.dashboard
    commands/cluster        cluster, envtest ─▶ launchers, which are programs of their own

A command parses, and calls what stands beside it; ``choosing`` and ``targets`` say which operator
is meant.

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
