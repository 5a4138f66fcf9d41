"""``python -m tests.architecture.public_api.snapshot``: write the public API to public_api.txt.

The file has what a release may not change unnoticed: names and signatures, commands and their
flags, settings, metrics, names that are stored in clusters, and formats of files. ``make
api-snapshot`` writes it. A commit that changes it also has a fragment in ``changes/``.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from prometheus_client import CollectorRegistry

from steersman import Controller
from steersman.cli.commands import steersman as command_line
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, core_v1
from steersman.manager import lease_name
from steersman.manager.settings.manager_settings import settings_of
from steersman.observe import MetricsObserver
from steersman.observe.observation import observation_classes
from tests.architecture.public_api.names import by_name, kind_lines, lines_of, scope
from tests.architecture.tree import ROOT, modules, packages

SNAPSHOT = Path(__file__).with_name("public_api.txt")

# Packages without a public interface of their own, and modules that are public as a whole.
PUBLIC_MODULES = ("steersman.controller.changed", "steersman.kinds.recipes")

# Constants that are stored in clusters, in files, or read from there.
STORED = (
    "steersman.cli.crds.FIELD_MANAGER",
    "steersman.controller.pause.PAUSED",
    "steersman.manifests.files.RECORD",
    "steersman.scaffold.base.BASE",
    "steersman.scaffold.origin.VENDOR",
    "steersman_cluster.apiserver.storage.sqlite.FORMAT",
)
STORED_PREFIXES = ("steersman_cluster.kubelet.annotations", "steersman_cluster.workloads.volumes.provisioner")


def snapshot() -> str:
    """The public API, as text."""
    sections = {
        "distributions": distributions(),
        "commands": commands(command_line, "steersman", None),
        "settings of a manager: flag, variable, default": settings(),
        "fixtures and options of pytest": pytest_plugin(),
        "metrics and their labels": metrics(),
        "names in clusters and files": stored(),
        "names and signatures": names(),
        "kinds and their fields": kinds(),
    }
    return "\n".join(
        f"# {title}\n\n" + "".join(f"{line}\n" for line in lines)
        for title, lines in sections.items()
    )
