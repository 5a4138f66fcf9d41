"""The commands that require the embedded cluster: ``steersman cluster``, ``dev``, ``demo``.

    cluster     embedded_cluster; launchers, which are separate programs
    dev, demo   session

The ``steersman`` command finds these commands by the entry-point group ``steersman.commands``, like
the commands of any other distribution. Their modules import only click and ``steersman.cli``. Other
modules are imported when a command runs, so that help is quick.

Takes:     arguments
Gives:     data on stdout, everything else on stderr, and the exit status of ``steersman.cli``
Promises:  - ctrl-c leaves nothing behind
Never:     is imported by a program in production
"""

__all__: list[str] = []
