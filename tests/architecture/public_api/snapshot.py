"""``python -m tests.architecture.public_api.snapshot [FILE]``: write the public API to a file.

The file (``public_api.txt`` unless given) has what a release may not change unnoticed: names and
signatures, commands and their flags, settings, metrics, names that are stored in clusters, and
formats of files. A commit that changes it also has a fragment in ``changes/``.
"""

import ast
import json
import re
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import click
from prometheus_client import CollectorRegistry

from steersman import errors
from steersman.cli.commands import steersman as command_line
from steersman.cli.entry import exit_status
from steersman.clock import SystemClock
from steersman.controller import Context, Controller, Done, Outcome
from steersman.controller.loop.retry import decide
from steersman.errors.explanation import example_arguments
from steersman.kinds import core_v1
from steersman.manager import ManagerSettings
from steersman.manager.permissions import lease_name
from steersman.manager.settings.sources import SETTINGS, as_text
from steersman.manifests import write_trees
from steersman.manifests.files import RECORD
from steersman.observe import MetricsObserver
from steersman.observe.observation import observation_classes
from steersman.scaffold.base import BASE, base_text
from steersman_cluster import errors as cluster_errors
from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal
from steersman_cluster.apiserver.storage.sqlite import FILE
from tests.architecture.public_api.names import (
    GENERATED_KINDS,
    by_name,
    documented_packages,
    kind_lines,
    lines_of,
    scope,
)
from tests.architecture.tree import ROOT, modules

SNAPSHOT = Path(__file__).with_name("public_api.txt")

# Constants that are stored in clusters and in files, which later versions must read.
STORED = (
    "steersman.cli.crds.FIELD_MANAGER",
    "steersman.controller.pause.PAUSED",
    "steersman.manifests.files.RECORD",
    "steersman.manifests.files.RECORD_FORMAT",
    "steersman.scaffold.base.BASE",
    "steersman.scaffold.base.BASE_FORMAT",
    "steersman.scaffold.origin.VENDOR",
    "steersman_cluster.apiserver.storage.sqlite.FILE",
    "steersman_cluster.apiserver.storage.sqlite.FORMAT",
    "steersman_cluster.demos.samples.FIELD_MANAGER",
    "steersman_cluster.workloads.nodes.node_taints.SIMULATED_NODE",
)
STORED_MODULES = (
    "steersman_cluster.kubelet.annotations",
    "steersman_cluster.workloads.volumes.provisioner",
)


def snapshot() -> str:
    """The public API, as text."""
    sections = {
        "distributions": distributions(),
        "commands": commands(command_line, "steersman", None),
        "exit statuses of errors": exit_statuses(),
        "settings of a manager: flag, variable, key in the file, default": settings(),
        "fixtures and options of pytest": pytest_plugin(),
        "metrics and their labels": metrics(),
        "reasons of events and conditions": reasons(),
        "names in clusters and files": stored(),
        "tables and files of the data directory": data_directory(),
        "keys of the record and the base of a project": project_records(),
        "names and signatures": names(),
        "kinds and their fields": kinds(),
    }
    return "\n".join(
        f"# {title}\n\n" + "".join(f"{line}\n" for line in lines)
        for title, lines in sections.items()
    )


def distributions() -> Iterator[str]:
    """What pip, entry points and the oldest Python say of each distribution."""
    for path in sorted((ROOT / "packages").glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        yield f"{project['name']}, Python {project['requires-python']}"
        for extra, requirements in sorted(project.get("optional-dependencies", {}).items()):
            yield f"    [{extra}] {', '.join(requirements)}"
        for group, entries in sorted(project.get("entry-points", {}).items()):
            yield from (f"    {group}: {name} = {entry}" for name, entry in entries.items())
        for name, entry in sorted(project.get("scripts", {}).items()):
            yield f"    {name} = {entry}"


def commands(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    """A command with its arguments and options, then its subcommands."""
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    yield path
    for parameter in command.get_params(context):
        if "--help" not in parameter.opts:
            yield f"    {_parameter(parameter)}"
    if isinstance(command, click.Group):
        for name in sorted(command.list_commands(context)):
            below = command.get_command(context, name)
            assert below is not None, name
            yield from commands(below, f"{path} {name}", context)


def _parameter(parameter: click.Parameter) -> str:
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if isinstance(parameter, click.Argument):
        names = parameter.human_readable_name
    choices = getattr(parameter.type, "choices", ())
    kind = f"one of {', '.join(map(str, choices))}" if choices else parameter.type.name
    words = [names, kind]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        words = [names, "flag"]
    if parameter.multiple or parameter.nargs == -1:
        words.append("repeatable")
    if parameter.required:
        words.append("required")
    if isinstance(parameter.envvar, str):
        words.append(f"${parameter.envvar}")
    return ", ".join(words)


def exit_statuses() -> Iterator[str]:
    """The exit status of the program for each error."""
    for package in (errors, cluster_errors):
        for name in sorted(package.__all__):
            error = getattr(package, name)
            if isinstance(error, type) and issubclass(error, Exception):
                yield f"{name}: {exit_status(error)}"


def settings() -> Iterator[str]:
    """The settings of a manager, each with its sources and its default."""
    defaults = ManagerSettings()
    for setting in SETTINGS:
        default = as_text(getattr(defaults, setting.field)) or "not set"
        yield f"{setting.flag}, ${setting.variable}, {setting.key}: {default}"


def pytest_plugin() -> Iterator[str]:
    """The fixtures and the options of the pytest plugin."""
    module = by_name()["steersman_cluster.testing.plugin"]
    for node in ast.walk(module.parsed()):
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators) if any(
                "fixture" in ast.unparse(each) for each in decorators
            ) and not name.startswith("_"):
                yield f"fixture {name}"
            case ast.Call(
                func=ast.Attribute(attr="addoption"), args=[ast.Constant(value=str(option))]
            ):
                yield f"option {option}"
            case ast.Dict(keys=[ast.Constant(value=str(key)), *_] as keys) if key.startswith("--"):
                yield from (f"option {ast.literal_eval(each)}" for each in keys if each)
            case _:
                pass


def metrics() -> Iterator[str]:
    """The metrics of operators with their labels, as Prometheus sees them."""
    registry = CollectorRegistry()
    MetricsObserver(registry, clock=SystemClock())
    labels = {each.name: each.labels for kind in observation_classes() for each in kind.METRICS}
    for metric in registry.collect():
        found = labels.get(metric.name) or getattr(metric, "_labelnames", ())
        yield f"{metric.type} {metric.name}" + (f"{{{', '.join(found)}}}" if found else "")


def reasons() -> Iterator[str]:
    """The default condition of a controller, and the reason of each failure of a reconcile."""
    yield f"condition: {_example().condition or 'none'}"
    for name, arguments in sorted(example_arguments("steersman.errors").items()):
        note = decide(Done(), getattr(errors, name)(**arguments), failures=10).note
        yield f"{name}: {note[0] if note else 'no event'}"
    note = decide(Done(), RuntimeError(), failures=10).note
    yield f"any other exception: {note[0] if note else 'no event'}"


def data_directory() -> Iterator[str]:
    """The files of ``--data``, and the tables of its database."""
    with tempfile.TemporaryDirectory() as directory:
        with closing(SqliteJournal(Path(directory))) as journal:
            log = RevisionLog(journal)
            log.append(Key("pods", "default/web"), {}, expected=0)
        yield from sorted(each.name for each in Path(directory).iterdir())
        with closing(sqlite3.connect(Path(directory, FILE))) as database:
            for (statement,) in database.execute("SELECT sql FROM sqlite_master ORDER BY name"):
                yield " ".join(str(statement).split())


def project_records() -> Iterator[str]:
    """The keys of the files in ``.steersman``, as they are written."""
    with tempfile.TemporaryDirectory() as directory:
        write_trees(Path(directory), {"crd": {"deploy/crd.yaml": "kind: List\n"}}, force=False)
        record = json.loads(Path(directory, RECORD).read_text(encoding="utf-8"))
    yield f"{RECORD}: {', '.join(sorted(record))}"
    yield f"{BASE}: {', '.join(sorted(json.loads(base_text({}))))}"


def _example() -> Controller[core_v1.ConfigMap]:
    async def reconcile(obj: core_v1.ConfigMap, ctx: Context) -> Outcome:
        return Done()

    return Controller(core_v1.ConfigMap, reconcile=reconcile, name="example")


def stored() -> Iterator[str]:
    """Names and versions of formats that are stored in clusters and files."""
    controller = _example()
    yield f"finalizer of the controller example: {controller.finalizer}"
    yield f"its field manager: {controller.field_manager}"
    yield f"lease of its manager: {lease_name([controller])}"
    in_modules = (
        f"{module}.{name}"
        for module in STORED_MODULES
        for name in sorted(scope(module).defined)
        if re.fullmatch("[A-Z][A-Z_]*", name)
    )
    for place in (*STORED, *in_modules):
        module, _, name = place.rpartition(".")
        value = getattr(import_module(module), name)
        if isinstance(value, str | int):
            yield f"{place} = {value!r}"


def names() -> Iterator[str]:
    """The names of each documented package, with their signatures."""
    yield from lines_of((*documented_packages(), "steersman"))


def kinds() -> Iterator[str]:
    """The fields of each generated kind."""
    for module in modules():
        if module.is_generated and module.package == GENERATED_KINDS:
            yield from kind_lines(module.name)


def main(path: Path = SNAPSHOT) -> None:
    """Write the snapshot."""
    path.write_text(snapshot(), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
