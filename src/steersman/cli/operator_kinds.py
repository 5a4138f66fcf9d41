"""Which kinds a project has: those that its operator runs with."""

import inspect
from pathlib import Path
from typing import Any

from steersman.cli.targets import load_manager
from steersman.manifests import own_kinds
from steersman.scaffold import Declared, Project


def kinds_of_operator(project: Project) -> tuple[Declared, ...]:
    """Every kind in every version that the operator of ``project`` defines; loads the operator."""
    manager = load_manager(project.target, directory=project.directory)
    return tuple(
        _declared(version, project.directory)
        for kind in own_kinds(manager.controllers)
        for version in (kind, *_other_versions(kind))
    )


def _other_versions(kind: type[Any]) -> tuple[type[Any], ...]:
    crd = kind.declared_crd
    return () if crd is None else crd.also_serves


def _declared(kind: type[Any], directory: Path) -> Declared:
    gvk = kind.resource_type.gvk
    path = Path(inspect.getfile(kind)).resolve()
    root = directory.resolve()
    inside = path.is_relative_to(root)
    return Declared(
        path=path.relative_to(root).as_posix() if inside else str(path),
        class_name=kind.__name__,
        group=gvk.group,
        version=gvk.version,
        kind=gvk.kind,
    )
