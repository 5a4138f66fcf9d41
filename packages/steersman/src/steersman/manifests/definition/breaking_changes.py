"""The breaking changes between an old and a new version of a CustomResourceDefinition.

Some changes break no object and no client, so they are not listed: a schema that accepts more
values of the same type; a new version, field, short name or column; a removed column, because
columns are for display only; a deprecation; and a change of the storage version, as long as the new
storage version has the fields of the other served versions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from steersman.manifests.definition.definition import Definition, Version, read_definition
from steersman.manifests.definition.schema_diff import narrowings
from steersman.manifests.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingChange:
    """A change of a CRD that breaks a stored object or a client.

    ``version`` is empty for a change of the CRD itself, and ``path`` for a change of the entire
    object.
    """

    version: str
    path: str
    what: str
    """The change of the field at ``path``, as a predicate: ``was removed``."""
    why: str
    """The effect on stored objects or clients."""

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.version, self.path)))
        return f"{place} {self.what}: {self.why}"


def breaking_changes(old: Document, new: Document) -> tuple[BreakingChange, ...]:
    """Return each change from the CRD ``old`` to ``new`` that breaks an object or a client."""
    before, after = read_definition(old), read_definition(new)
    return (
        *_of_names(before, after),
        *_of_versions(before, after),
        *_of_storage(before, after),
        *(each for version in after.versions for each in _of_version(before, after, version)),
    )


def _change(path: str, what: str, why: str, *, version: str = "") -> BreakingChange:
    return BreakingChange(version=version, path=path, what=what, why=why)


def _of_names(old: Definition, new: Definition) -> Iterator[BreakingChange]:
    other = "it is another kind, and existing objects do not belong to it"
    for path, was, now, why in (
        ("spec.group", old.group, new.group, other),
        ("spec.names.plural", old.plural, new.plural, other),
        ("spec.names.kind", old.kind, new.kind, "existing objects are of the previous kind"),
        (
            "spec.scope",
            "Namespaced" if old.namespaced else "Cluster",
            "Namespaced" if new.namespaced else "Cluster",
            "the server rejects the change, and clients use another path",
        ),
        (
            "spec.names.listKind",
            old.names.get("listKind") or f"{old.kind}List",
            new.names.get("listKind") or f"{new.kind}List",
            "clients do not recognize the new kind of the list",
        ),
        (
            "spec.names.singular",
            old.singular,
            new.singular,
            "kubectl no longer accepts the previous name",
        ),
    ):
        # If the kind has changed, the names that depend on it are not reported as well.
        if was != now and (path in _FIRST or old.kind == new.kind):
            yield _change(path, f"is now {now} (previously {was})", why)
    for word in old.words("shortNames"):
        if word not in new.words("shortNames"):
            yield _change(
                "spec.names.shortNames",
                f"no longer contain {word}",
                "kubectl no longer accepts this short name",
            )
    if old.conversion == "Webhook" and new.conversion == "None" and len(new.versions) > 1:
        yield _change(
            "spec.conversion",
            "is now None (previously Webhook)",
            "the server no longer converts objects between versions",
        )


_FIRST = ("spec.group", "spec.names.plural", "spec.names.kind", "spec.scope")


def _of_versions(old: Definition, new: Definition) -> Iterator[BreakingChange]:
    now = {each.name: each for each in new.versions}
    for each in old.versions:
        if each.served and not (each.name in now and now[each.name].served):
            yield _change(
                "", "is no longer served", "clients of this version get a 404", version=each.name
            )
    for name in old.once_stored:
        if name not in now:
            yield _change(
                "",
                "was removed, but objects may be stored in it",
                "the server rejects the change until all objects are stored in another version and"
                " status.storedVersions no longer lists this one",
                version=name,
            )


def _of_storage(old: Definition, new: Definition) -> Iterator[BreakingChange]:
    """Yield a change for each field that is dropped on write because the storage version lacks it.

    Without conversion, an object that a client writes in one version is stored in another version
    and pruned to the fields of the storage version.
    """
    was, now = (next((each for each in one.versions if each.stored), None) for one in (old, new))
    if was is None or now is None or was.name == now.name or new.conversion != "None":
        return
    if now.name not in (each.name for each in old.versions):
        return  # otherwise, differences between versions are not breaking
    for written in new.versions:
        if not written.served or written.name == now.name:
            continue
        for each in narrowings(written.schema, now.schema):
            if each.drops:
                what = (
                    f"{each.what} (unlike in {written.name}; the stored version is now {now.name})"
                )
                why = f"the server drops its value from every object written as {written.name}"
                yield _change(each.path, what, why, version=now.name)


def _of_version(old: Definition, new: Definition, now: Version) -> Iterator[BreakingChange]:
    was = next((each for each in old.versions if each.name == now.name), None)
    if was is not None and (was.served or was.name in old.once_stored):
        for each in narrowings(was.schema, now.schema):
            yield _change(each.path, each.what, each.why, version=now.name)
        yield from _of_subresources(was, now)
        for field in was.selectable_fields:
            if field not in now.selectable_fields:
                yield _change(
                    field.removeprefix("."),
                    "is no longer a selectable field",
                    "the server rejects lists and watches with this field selector",
                    version=now.name,
                )
    elif now.served and new.conversion == "None":
        yield from _of_new_version(old, new, now)


def _of_new_version(old: Definition, new: Definition, now: Version) -> Iterator[BreakingChange]:
    """Yield a change for each value of stored objects that a newly added version does not accept.

    Without conversion, the server returns the stored data unchanged under the new version.
    """
    stored = next((each for each in old.versions if each.stored), None)
    if stored is None or old.group != new.group:
        return
    for each in narrowings(stored.schema, now.schema):
        what = f"{each.what} (unlike in the stored version {stored.name}; there is no conversion)"
        yield _change(each.path, what, each.why, version=now.name)


def _of_subresources(was: Version, now: Version) -> Iterator[BreakingChange]:
    before, after = was.subresources, now.subresources
    for name in ("status", "scale"):
        if before.get(name) is not None and after.get(name) is None:
            yield _change(
                f"/{name}", "was removed", f"requests to /{name} get a 404", version=now.name
            )
    if before.get("status") is None and after.get("status") is not None:
        yield _change(
            "status",
            "can now be written only through /status",
            "the server ignores it in other writes",
            version=now.name,
        )
    if before.get("scale") and after.get("scale"):
        for key in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"):
            field, there = before["scale"].get(key), after["scale"].get(key)
            if field and field != there:
                yield _change(
                    f"/scale {key}",
                    f"is now {there or 'unset'} (previously {field})",
                    "autoscalers read or write another field",
                    version=now.name,
                )
