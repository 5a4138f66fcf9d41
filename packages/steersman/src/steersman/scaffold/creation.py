"""Creates projects, kinds and controllers: renders all texts, then writes all files."""

import ast
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed
from pathlib import Path
from typing import Final

from steersman.errors import BadName, ProjectError
from steersman.manifests import Tree
from steersman.names import check_class_kind, check_group, check_plural, check_version, plural_of
from steersman.scaffold.base import BASE, base_text
from steersman.scaffold.declared import DeclaredKind, bases_of, declared_in, parsed, types_of
from steersman.scaffold.file_writer import read_text, require_absent, require_room, write_files
from steersman.scaffold.foreign import Foreign, foreign_kind
from steersman.scaffold.frame import ProjectAnswers, frame_of, render
from steersman.scaffold.name_rules import (
    check_domain,
    check_package,
    check_project_name,
    class_suffix,
    module_of,
    package_of,
)
from steersman.scaffold.origin import Origin, index_origin
from steersman.scaffold.project import PYPROJECT, Project
from steersman.scaffold.source_editor import with_controller, with_import, with_served_version

# A directory for a new project may contain these.
_NOT_CONTENT: Final = frozenset({".git"})

# With the suffix ``List``, the name is still valid in Kubernetes.
_MAX_KIND_LENGTH: Final = 59

# Names that a generated module and its tests use, besides the class of the kind.
_BESIDE: Final = frozenset({"Annotated", "Spec", "Status"})
_BESIDE_TESTS: Final = frozenset({"AsyncIterator", "Cluster", "Scenario"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedFiles:
    """The paths of the written files, relative to the project, and suggested next commands."""

    written: tuple[str, ...]
    changed: tuple[str, ...] = ()
    what_now: tuple[str, ...] = ()


def init_project(
    directory: Path,
    *,
    domain: str,
    name: str | None = None,
    package: str | None = None,
    origin: Callable[[], Origin] = index_origin,
) -> CreatedFiles:
    """Create a project in ``directory``, which does not exist or is empty.

    By default, the project has the name of the directory, and the Python package has the name of
    the project. ``domain`` is the suffix of the API groups of the project's kinds. ``origin``
    returns the origin of the installed steersman.
    """
    answers = _answers(directory, domain=domain, name=name, package=package)
    require_room(directory, besides=_NOT_CONTENT)
    found = origin()  # last, because building a wheel takes a while
    frame = frame_of(replace(answers, origin=found.source))
    write_files(directory, {**frame, BASE: base_text(frame), **found.files})
    return CreatedFiles(
        written=(*frame, *found.files),
        what_now=(
            f"cd {shlex.quote(str(directory))}",
            "steersman create api --group app --version v1 --kind AppService",
            "make test",
        ),
    )


def create_api(
    project: Project,
    *,
    group: str,
    version: str,
    kind: str,
    namespaced: bool = True,
    plural: str | None = None,
    operator_kinds: Sequence[DeclaredKind] = (),
) -> CreatedFiles:
    """Add a kind to ``project``: a module with types and a working reconcile, tests, a sample.

    A ``group`` without a dot is in the project's domain: ``app`` is ``app.example.com``. If the
    kind exists in another version, only the types of this version are added, and both versions are
    served. ``operator_kinds`` are the kinds of the project's loaded manager. They include kinds
    that the project's source declares in a form that the parser does not recognize.
    """
    group = _full_group(group, project.domain)
    check_version(version)
    _check_own_kind(kind)
    check_plural(plural or plural_of(kind))
    sources = _sources(project)
    others = [each for each in _known_kinds(sources, operator_kinds) if each.kind == kind]
    same = [each for each in others if each.group == group]
    for found in same:
        if found.version == version:
            raise ProjectError(
                problem=f"the kind already exists: {found}",
                what_now="Change that class, or give another --version.",
            )
    if same:
        return _further_version(
            project, same, sources, version=version, namespaced=namespaced, plural=plural
        )
    module = module_of(kind)
    if others or _is_other_module(sources, f"src/{project.package}/{module}.py", kind):
        # Another kind or module has the plain name.
        module += f"_{group.partition('.')[0].replace('-', '_')}"
    words = {
        "package": project.package,
        "module": module,
        "kind": kind,
        "kind_in_tests": f"{kind}Kind" if kind in _BESIDE_TESTS else kind,
        "group": group,
        "version": version,
        "namespaced": namespaced,
        "plural": plural or "",
        "controller_name": _label(module) if others else "",
        "sample": _label(f"{module}-sample"),
    }
    written = {
        f"src/{project.package}/{module}.py": render("kind.py", **words),
        f"tests/test_{module}.py": render("test_kind.py", **words),
        f"samples/{module}.yaml": render("sample.yaml", **words),
    }
    return _write_with_controller(project, written, module=module)


def create_controller(
    project: Project,
    *,
    group: str,
    version: str,
    kind: str,
    namespaced: bool = True,
    plural: str | None = None,
    models: str | None = None,
    operator_kinds: Sequence[DeclaredKind] = (),
) -> CreatedFiles:
    """Add a controller to ``project`` for a built-in kind or a kind of another project.

    ``models`` is a module that contains a class for the kind. Without ``models``, objects of a kind
    that is not built in are ``Unstructured``. ``operator_kinds`` are the kinds of the project's
    loaded manager.
    """
    _require_foreign(project, operator_kinds, group=group, kind=kind)
    foreign = foreign_kind(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        namespaced=namespaced,
        models=models,
    )
    module = module_of(kind)
    words = {
        "name": project.name,
        "domain": project.domain,
        "package": project.package,
        "module": module,
        "kind": kind,
        "group": foreign.gvk.group,
        "version": version,
        "module_of_kinds": foreign.module,
        "models": foreign.models,
        "expression": foreign.expression,
        "annotation": foreign.annotation,
        "example": foreign.example,
        "unstructured": _of(foreign) if foreign.unstructured else (),
        "standin": _stand_in(foreign),
        "kinds_used": sorted({foreign.module, *foreign.used_by_example}.difference({""})),
        "controller_name": _label(f"{project.name}-{kind.lower()}"),
    }
    written = {
        f"src/{project.package}/{module}.py": render("controller.py", **words),
        f"tests/test_{module}.py": render("test_controller.py", **words),
    }
    return _write_with_controller(project, written, module=module)


def _known_kinds(sources: Tree, operator_kinds: Sequence[DeclaredKind]) -> list[DeclaredKind]:
    """Return the kinds in the source, and further kinds of the project's loaded manager."""
    known = {(each.group, each.version, each.kind): each for each in declared_in(sources)}
    for each in operator_kinds:
        known.setdefault((each.group, each.version, each.kind), each)
    return list(known.values())


def _is_other_module(sources: Tree, path: str, kind: str) -> bool:
    """Whether there is a module at ``path`` without a class that has the name of the kind."""
    return path in sources and not any(
        isinstance(each, ast.ClassDef) and each.name == kind
        for each in parsed(path, sources[path]).body
    )


def _require_foreign(
    project: Project, operator_kinds: Sequence[DeclaredKind], *, group: str, kind: str
) -> None:
    """Raise ``ProjectError`` if this project defines the kind, by ``create api`` or by hand.

    Classes from ``generate models`` are accepted, because another project defines their kinds.
    """
    groups = {group, group if "." in group else f"{group}.{project.domain}".lstrip(".")}
    for found in _known_kinds(_sources(project), operator_kinds):
        if found.kind == kind and found.group in groups and not found.of_another:
            raise ProjectError(
                problem=f"{kind} is a kind of this project and already has a controller: {found}",
                what_now="Change its `reconcile` function. `create controller` is for kinds that"
                " another project defines.",
            )


def version_of_steersman() -> str:
    """Return the version of the installed steersman."""
    return installed("steersman")


def _answers(
    directory: Path, *, domain: str, name: str | None, package: str | None
) -> ProjectAnswers:
    check_domain(domain)
    derived = directory.resolve().name.lower().replace("_", "-").replace(" ", "-")
    try:
        chosen = check_project_name(name or derived)
    except BadName as error:
        if name is not None:
            raise
        raise ProjectError(
            problem=f"the name of {directory} cannot be the name of the project: {error}".rstrip(
                "."
            ),
            what_now="Set the name of the project: --name shop-operator",
        ) from error
    return ProjectAnswers(
        name=chosen,
        domain=domain,
        package=check_package(package or package_of(chosen)),
        scaffold=version_of_steersman(),
    )


def _check_own_kind(kind: str) -> None:
    check_class_kind(kind)
    if kind in _BESIDE:
        rule = f"{', '.join(sorted(_BESIDE))} are names of other classes in its module"
    elif len(kind) > _MAX_KIND_LENGTH:
        rule = (
            f"it must have at most {_MAX_KIND_LENGTH} characters, because the kind of its list adds"
            " List to it"
        )
    else:
        return
    raise BadName(wanted="a kind", value=kind, rule=rule)


def _full_group(group: str, domain: str) -> str:
    if "." in group:
        return check_group(group)
    return check_group(f"{group}.{domain}" if group else domain)


def _sources(project: Project) -> Tree:
    """Return the project's modules, by path."""
    return dict(_modules(project))


def _modules(project: Project) -> Iterator[tuple[str, str]]:
    for path in sorted((project.source / project.package).rglob("*.py")):
        text = read_text(path)
        if text is not None:
            yield path.relative_to(project.directory).as_posix(), text


def _write_with_controller(project: Project, written: Tree, *, module: str) -> CreatedFiles:
    """Write new files, and add their controller to the operator's list of controllers."""
    require_absent(project.directory, written)
    path = _module_of_target(project)
    before = read_text(project.directory / path)
    after = _with_controller(project, path, before, module)
    changed = {} if after == before else {path: after}
    write_files(project.directory, {**written, **changed})
    return CreatedFiles(
        written=tuple(written), changed=tuple(changed), what_now=("make test", "make dev")
    )


def _module_of_target(project: Project) -> str:
    """Return the path of the module that creates the manager."""
    module = "src/" + project.target.partition(":")[0].replace(".", "/")
    inside = f"{module}/__init__.py"
    return inside if (project.directory / inside).is_file() else f"{module}.py"


def _with_controller(project: Project, path: str, source: str | None, module: str) -> str:
    expression = f"{module}.controller"
    by_hand = (
        f"Add `from {project.package} import {module}` where the manager is made, and {expression}"
        f" to its controllers; then run this command again"
    )
    if source is None:
        raise ProjectError(
            problem=f"{path}, which target in {PYPROJECT} names, does not exist",
            what_now="Restore the file, or set target to the module of the manager.",
        )
    tree = parsed(path, source)
    if any(
        isinstance(each, ast.Attribute) and ast.unparse(each) == expression
        for each in ast.walk(tree)
    ):
        return source  # the message explains how to do it manually
    changed = with_controller(source, expression)
    if changed is None:
        raise ProjectError(
            problem=f"{path} does not contain exactly one Manager(controllers=[…]) to which"
            f" {expression} can be added",
            what_now=f"{by_hand}.",
        )
    return with_import(changed, project.package, module)


def _further_version(
    project: Project,
    same: list[DeclaredKind],
    sources: Tree,
    *,
    version: str,
    namespaced: bool,
    plural: str | None,
) -> CreatedFiles:
    """Add a version of an existing kind: its types, and an entry in the class of the storage
    version.
    """
    stored = same[0]
    for each in same:
        # The stored version is in the module that has the controller.
        if "Controller(" in sources.get(each.path, ""):
            stored = each
    if stored.path not in sources:
        raise ProjectError(
            problem=f"the kind already exists: {stored}, outside of this project",
            what_now="Add the version where the kind is defined.",
        )
    source = sources[stored.path]
    module = f"{Path(stored.path).stem}_{version.replace('-', '_')}"
    class_name = f"{stored.kind}{class_suffix(version)}"
    base, rest, docstring = bases_of(stored, source)
    is_other = not namespaced and "namespaced=False" not in rest
    if is_other or (
        plural and plural != plural_of(stored.kind) and f'plural="{plural}"' not in rest
    ):
        raise ProjectError(
            problem=f"all versions of a kind must have the same scope and plural, and those of"
            f" {stored} differ",
            what_now="Leave out --plural and --cluster-scoped.",
        )
    words = {
        "kind": stored.kind,
        "class_name": class_name,
        "group": stored.group,
        "version": version,
        "stored": stored.version,
        "types": types_of(stored, source),
        "base": base,
        "rest": rest,
        "docstring": docstring,
    }
    path = f"src/{project.package}/{module}.py"
    written = {path: render("version.py", **words)}
    sample = _sample_in(project, stored, version=version)
    if sample is not None:
        written[f"samples/{module}.yaml"] = sample
    require_absent(project.directory, written)
    changed = with_served_version(source, stored.class_name, class_name)
    if changed is None:
        raise ProjectError(
            problem=f"{stored.class_name} in {stored.path} declares crd=… in a form to which"
            f" steersman cannot add a version",
            what_now="Write crd=sm.Crd(also_serves=(…,)) in the class, and run this command again.",
        )
    changed = with_import(changed, f"{project.package}.{module}", class_name)
    write_files(project.directory, {**written, stored.path: changed})
    return CreatedFiles(written=tuple(written), changed=(stored.path,), what_now=("make test",))


def _sample_in(project: Project, stored: DeclaredKind, *, version: str) -> str | None:
    """Return the sample of the storage version, changed to ``version``; ``None`` without a
    sample.
    """
    text = read_text(project.directory / f"samples/{Path(stored.path).stem}.yaml")
    line = f"apiVersion: {stored.group}/{stored.version}\n"
    if text is None or line not in text:
        return None
    return text.replace(line, f"apiVersion: {stored.group}/{version}\n")


def _label(text: str) -> str:
    """Return the text as a DNS label, truncated if necessary."""
    return text.replace("_", "-")[:63].rstrip("-")


def _of(foreign: Foreign) -> list[str]:
    return [f'"{foreign.gvk.api_version}"', f'"{foreign.gvk.kind}"', *_where(foreign)]


def _stand_in(foreign: Foreign) -> list[str]:
    gvk = foreign.gvk
    keywords = (f'group="{gvk.group}"', f'version="{gvk.version}"', f'kind="{gvk.kind}"')
    return ["sm.CustomResource[Anything, Anything]", *keywords, *_where(foreign)]


def _where(foreign: Foreign) -> list[str]:
    scope = [] if foreign.namespaced else ["namespaced=False"]
    return [f'plural="{foreign.plural}"', *scope]
