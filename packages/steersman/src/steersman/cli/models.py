"""``steersman generate models``: typed classes for the kinds of other projects."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from steersman.cli.cluster_client import cluster_client
from steersman.client import Trust
from steersman.clock import Clock
from steersman.errors import BadDefinition, NotFound
from steersman.kinds import Unstructured
from steersman.kinds.generate import models_from_crd
from steersman.manifests import Document, Tree, in_folder, write_trees
from steersman.scaffold import Project

API: Final = "apiextensions.k8s.io/v1"
KIND: Final = "CustomResourceDefinition"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that returns the same values as kubectl: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, spelled) for tag, spelled in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def definitions_in(text: str, *, source: str) -> tuple[Document, ...]:
    """Return every CRD in ``text``, which is YAML or JSON, including the CRDs in lists.

    Errors name ``source``.
    """
    try:
        # Nested aliases can expand beyond any memory.
        if any(isinstance(each, yaml.AliasEvent) for each in yaml.parse(text, Loader=_Loader)):
            raise _refused(
                source, "it contains YAML aliases", "Replace the aliases with their values."
            )
        documents = list(_each(yaml.load_all(text, Loader=_Loader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1} of it" if mark else "it"
        problem = f"{where} is not YAML: {getattr(error, 'problem', None) or 'no text at all'}"
        raise _refused(source, problem, "Correct it, or name another file.") from None
    except (RecursionError, ValueError) as error:
        problem = "it is nested too deeply, or contains a value that cannot be read"
        raise _refused(source, problem, "Name another file.") from error
    found = tuple(each for each in documents if each.get("kind") == KIND)
    if not found:
        kinds = ", ".join(dict.fromkeys(str(each.get("kind") or "no kind") for each in documents))
        raise _refused(
            source,
            f"it contains {kinds or 'no document'}, but no {KIND}",
            "Name a file with one, such as the output of `kubectl get crd -o yaml`.",
        )
    for each in found:
        if each.get("apiVersion") != API:
            raise _refused(
                source,
                f"it contains a {KIND} of {each.get('apiVersion')}",
                f"Convert it to {API}, which clusters serve.",
            )
    return found


def _each(documents: Iterable[Any]) -> Iterator[Document]:
    for each in documents:
        if not isinstance(each, Mapping):
            continue
        if str(each.get("kind")).endswith("List") and isinstance(each.get("items"), list):
            yield from _each(each["items"])
        else:
            yield each


def _refused(source: str, problem: str, what_now: str) -> BadDefinition:
    return BadDefinition(source=source, problem=problem, what_now=what_now)


async def definition_from_cluster(
    name: str,
    *,
    kubeconfig: Path | None,
    context: str | None,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    trust: Trust = Trust(),
) -> Document:
    """Read the CRD ``name``, such as ``widgets.example.com``, from a cluster."""
    definitions = Unstructured.of(API, KIND, namespaced=False)
    async with cluster_client(
        kubeconfig=kubeconfig,
        context=context,
        clock=clock,
        rng=rng,
        environ=environ,
        trust=trust,
    ) as client:
        try:
            return (await client.get(definitions, name)).body
        except NotFound as error:
            raise _refused(
                name,
                "the cluster contains no definition with this name",
                "Use plural and group, as in `kubectl get crd`: widgets.example.com",
            ) from error


def models_tree(definitions: Iterable[Document], *, version: str | None = None) -> Tree:
    """Return the text of one module for each CRD in ``definitions`` and each of its versions.

    With ``version``, only this version is included; otherwise every served version is.
    """
    tree: dict[str, str] = {}
    for definition in definitions:
        for each in [version] if version else _served(definition):
            text = models_from_crd(definition, version=each)
            name = _module_name(definition, each)
            if name in tree:
                raise _refused(
                    _name_of(definition),
                    f"its models would be written to {name}, like those of another definition",
                    "Generate each definition into its own directory.",
                )
            tree[name] = text
    return tree


def _served(definition: Document) -> list[str]:
    spec = definition.get("spec")
    versions = spec.get("versions") if isinstance(spec, Mapping) else None
    found = [
        str(each.get("name"))
        for each in (versions if isinstance(versions, list) else ())
        if isinstance(each, Mapping) and each.get("served") is not False
    ]
    if not found:
        raise _refused(
            _name_of(definition), "none of its versions is served", "Name a version with --version."
        )
    return found


def _name_of(definition: Document) -> str:
    metadata = definition.get("metadata")
    return str(metadata.get("name")) if isinstance(metadata, Mapping) else "a document"


def _module_name(definition: Document, version: str) -> str:
    # Both are valid names, which the generator has checked.
    kind: str = definition["spec"]["names"]["kind"]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind)
    return f"{words}_{version}.py".lower()


def write_models(directory: Path, tree: Tree, *, force: bool = False) -> tuple[Path, ...]:
    """Write all modules in ``tree``, or none; return the paths of the modules that changed.

    If a module was edited by hand, nothing is written and ``EditedByHand`` is raised, which shows
    the edits; with ``force``, the module is overwritten. The written files are recorded in the
    project that contains ``directory``, or, without a project, in ``directory``.
    """
    home, files = directory, tree
    project = Project.maybe(directory)
    if project is not None and directory.resolve().is_relative_to(project.directory.resolve()):
        home = project.directory
        inside = directory.resolve().relative_to(home.resolve()).as_posix()
        files = in_folder(inside, tree)
    # Each is a separate part: generating one kind's models keeps those of the others.
    parts = {f"models {path}": {path: text} for path, text in files.items()}
    changes = write_trees(home, parts, force=force)
    return tuple(home / path for path in changes.written)
