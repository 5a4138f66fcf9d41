"""The command line: ``steersman`` and its commands.

    commands/project      steersman.scaffold
    commands/generate     generator ─▶ steersman.manifests; models
    commands/run          crds ─▶ cluster_client
    other distributions   the entry points of the group ``steersman.commands``

A command parses its arguments and calls another module. ``operator_target`` and ``targets`` find
the operator that the command processes. ``main`` is the entry point of the program. Commands of
other distributions import the other names from here.

Takes:     arguments
Gives:     data on stdout, everything else on stderr, and an exit status: 0, 1 (failed) or 2 (usage)
Promises:  - an error says what to do and where it is explained
           - a rejected command leaves no partly written files
           - a command of another distribution does not slow down the others
Never:     contains functions that are useful without a command line; these are in other packages
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.cli.entry import main

if TYPE_CHECKING:
    from steersman.cli.commands.common import target_argument
    from steersman.cli.commands.groups import Group
    from steersman.cli.crds import install_crds, watched_kinds
    from steersman.cli.operator_target import find_operator
    from steersman.cli.targets import load_manager, load_object

__all__ = [
    "Group",
    "find_operator",
    "install_crds",
    "load_manager",
    "load_object",
    "main",
    "target_argument",
    "watched_kinds",
]

# Imported on demand: a base installation has no click, and help needs neither client nor kinds.
_LAZY = {
    "Group": "commands.groups",
    "find_operator": "operator_target",
    "install_crds": "crds",
    "load_manager": "targets",
    "load_object": "targets",
    "target_argument": "commands.common",
    "watched_kinds": "crds",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
