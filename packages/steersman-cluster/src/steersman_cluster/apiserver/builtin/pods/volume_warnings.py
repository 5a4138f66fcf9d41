"""Warnings about volumes: fractional bytes, and overlapping paths of files in one volume."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steersman_cluster.apiserver.builtin.workloads.claim_templates import claim_spec_warnings
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.strategy import Object


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        return f"{shown(self.path)} ({self.source})" if self.source else shown(self.path)


def claim_warnings(volume: Object, path: str) -> list[str]:
    """Return the warnings about the claim template of an ephemeral volume."""
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is None:
        return []
    where = f"{path}.ephemeral.volumeClaimTemplate.spec"
    return claim_spec_warnings(template.get("spec") or {}, where)


def overlap_warnings(volumes: Iterable[Object]) -> Iterator[str]:
    """Yield the warnings about volumes in which the paths of two files are equal or contain each
    other.
    """
    for volume in volumes:
        name = shown(volume.get("name", ""))
        for kind, source in _sources(volume):
            for overlap in _overlaps(_items(source, "")):
                yield f"volume {name} ({kind}): overlapping paths: {overlap}"
        if (projected := volume.get("projected")) is not None:
            sources = projected.get("sources") or ()
            yield from (
                f"volume {name} (Projected) has no sources provided" for each in sources if not each
            )
            for overlap in _overlaps(file for each in sources for file in _projected(each)):
                yield f"volume {name} (Projected): overlapping paths: {overlap}"


def _sources(volume: Object) -> Iterator[tuple[str, Object]]:
    if (source := volume.get("configMap")) is not None:
        yield f"ConfigMap {shown(source.get('name', ''))}", source
    if (source := volume.get("secret")) is not None:
        yield f"Secret {shown(source.get('secretName', ''))}", source
    if (source := volume.get("downwardAPI")) is not None:
        yield "DownwardAPI", source


def _projected(source: Object) -> Iterator[_File]:
    for kind, label in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if (inner := source.get(kind) or {}).get("items"):
            yield from _items(inner, f"{label} {shown(inner.get('name', ''))}")
            return
    if (inner := source.get("downwardAPI") or {}).get("items"):
        yield from _items(inner, "DownwardAPI")
    elif (token := source.get("serviceAccountToken")) is not None:
        yield _File(token.get("path", "").rstrip("/"), "ServiceAccountToken")


def _items(source: Object, label: str) -> Iterator[_File]:
    for item in source.get("items") or ():
        yield _File(item.get("path", "").rstrip("/"), label)


def _overlaps(files: Iterable[_File]) -> Iterator[str]:
    before: list[_File] = []
    for file in files:
        if file.path:
            yield from (f"{file} with {other}" for other in before if _overlap(file, other))
            before.append(file)


def _overlap(one: _File, other: _File) -> bool:
    first, second = f"{one.path}/", f"{other.path}/"
    return first.startswith(second) or second.startswith(first)
