"""A session of ``steersman dev`` or ``demo``: an operator on an embedded cluster, and a view.

    runner ─▶ session ─▶ operator_process ═▶ child, in a separate process
      └▶ display  │ └▶ demo_run        reports ◀─┘
                  └▶ state, file_watcher

The operator's process imports this package too, so this file imports nothing.

Takes:     a target, directories to watch, samples to apply, settings of the cluster
Gives:     the operator's objects, output and reconciles, on a terminal or as lines in a pipe
Promises:  - the end of a session leaves nothing behind
           - a save that does not load is shown, and the next one is tried
           - a save of an unused file does not restart the operator
Never:     runs the operator in the cluster's process
"""

__all__: list[str] = []
