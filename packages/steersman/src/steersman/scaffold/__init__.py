"""Projects for operators: made by one command, added to by another, and kept up to date.

Takes:     names: of a project, of a kind; a project on disk
Gives:     files that are the author's from then on, and what ``[tool.steersman]`` says
Promises:  - all of it is written or nothing is
           - a file that is there is never written over
           - the same names give the same bytes every time
           - what a project starts with works
           - what the author wrote stays as it is
           - an upgrade keeps what the author changed
Never:     runs the author's code, opens a connection, or needs a git repository
"""

from steersman.scaffold.creation import Made, create_api, create_controller, init_project
from steersman.scaffold.declared import Declared
from steersman.scaffold.deploy_table import BundleTable, DeployTable
from steersman.scaffold.egress import egress_warnings
from steersman.scaffold.origin import Origin, installed_origin
from steersman.scaffold.project import Project
from steersman.scaffold.upgrade import Upgraded, upgrade_project

__all__ = [
    "BundleTable",
    "Declared",
    "DeployTable",
    "Made",
    "Origin",
    "Project",
    "Upgraded",
    "create_api",
    "create_controller",
    "egress_warnings",
    "init_project",
    "installed_origin",
    "upgrade_project",
]
