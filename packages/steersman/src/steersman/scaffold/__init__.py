"""Projects for operators: created, extended with kinds and controllers, and upgraded.

Takes:     the name of a new project or kind, or a project on disk
Gives:     files, which the operator author edits from then on, and ``[tool.steersman]`` as read
Promises:  - either every file is written or none is
           - an existing file is never overwritten
           - the same names give the same bytes every time
           - a new project works without changes
           - the author's code stays unchanged
           - an upgrade keeps what the author changed
Never:     runs the author's code, opens a connection, or needs a git repository
"""

from steersman.scaffold.creation import CreatedFiles, create_api, create_controller, init_project
from steersman.scaffold.declared import DeclaredKind
from steersman.scaffold.deploy_table import BundleTable, DeployTable
from steersman.scaffold.egress import egress_warnings
from steersman.scaffold.origin import Origin, installed_origin
from steersman.scaffold.project import Project
from steersman.scaffold.upgrade.project_upgrade import UpgradeResult, upgrade_project

__all__ = [
    "BundleTable",
    "CreatedFiles",
    "DeclaredKind",
    "DeployTable",
    "Origin",
    "Project",
    "UpgradeResult",
    "create_api",
    "create_controller",
    "egress_warnings",
    "init_project",
    "installed_origin",
    "upgrade_project",
]
