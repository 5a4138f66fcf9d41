"""The entries of metadata.managedFields: which manager owns which fields of an object."""

from typing import Any, NamedTuple, TypeAlias

from steersman_cluster.apiserver.apply.field_sets import ordered, parsed, union
from steersman_cluster.apiserver.apply.path_elements import written
from steersman_cluster.apiserver.meta.reset_fields import FieldSet

APPLY = "Apply"
UPDATE = "Update"

_TEXTS = ("manager", "apiVersion", "time", "subresource")

# Above this number, the oldest updaters are merged into one entry.
MAX_UPDATERS = 10
ANCIENT = "ancient-changes"


class ManagerEntry(NamedTuple):
    """The manager that an entry of managedFields names.

    A manager that applies has one entry for all API versions.
    """

    name: str
    operation: str
    api_version: str
    subresource: str

    def __str__(self) -> str:
        """Return the manager's name, subresource and API version, as in conflict messages."""
        text = f'"{self.name}"'
        if self.subresource:
            text = f'{text} with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text

    @property
    def identity(self) -> str:
        """The key by which managers are sorted."""
        names = ("manager", "operation", "apiVersion", "subresource")
        return written({name: value for name, value in zip(names, self, strict=True) if value})


class Managed(NamedTuple):
    """The fields that one manager owns, the API version of their paths, and the entry's time."""

    fields: FieldSet
    api_version: str
    time: str | None


Managers: TypeAlias = dict[ManagerEntry, Managed]


def applier(name: str, subresource: str) -> ManagerEntry:
    """Return the manager entry of a server-side apply by ``name``."""
    return ManagerEntry(name, APPLY, "", subresource)


def updater(name: str, api_version: str, subresource: str) -> ManagerEntry:
    """Return the manager entry of a create, an update or a patch by ``name``."""
    return ManagerEntry(name, UPDATE, api_version, subresource)


def decoded(entries: Any) -> Managers:
    """Return the managers of ``entries``, in the same sequence.

    Their field sets are left as they are: neither converted nor checked.
    """
    managers: Managers = {}
    for entry in entries or ():
        api_version = entry["apiVersion"]
        manager = ManagerEntry(
            entry.get("manager") or "",
            entry["operation"],
            "" if entry["operation"] == APPLY else api_version,
            entry.get("subresource") or "",
        )
        managers[manager] = Managed(entry.get("fieldsV1", {}), api_version, entry.get("time"))
    return managers


def decoded_from_client(entries: Any) -> Managers:
    """Return the managers in ``entries``, the ``managedFields`` that a client sent.

    Raises ``ValueError`` for an invalid entry.
    """
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion") or entry.get("fieldsType") != "FieldsV1":
            raise ValueError("an entry needs an apiVersion and the fieldsType FieldsV1")
        if not all(value is None or isinstance(value, str) for value in map(entry.get, _TEXTS)):
            raise ValueError("manager, apiVersion, time and subresource must be strings")
    return {
        manager: managed._replace(fields=ordered(parsed(managed.fields)))
        for manager, managed in decoded(entries).items()
    }


def encoded(managers: Managers) -> list[dict[str, Any]]:
    """Return the managedFields entries of ``managers``.

    Entries of applies precede entries of updates; both are sorted from oldest to newest.
    """
    entries = []
    for manager in sorted(managers, key=lambda each: _age(each, managers[each])):
        managed = managers[manager]
        entry: dict[str, Any] = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": managed.api_version,
        }
        if managed.time is not None:
            entry["time"] = managed.time
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = managed.fields
        if manager.subresource:
            entry["subresource"] = manager.subresource
        entries.append(entry)
    return entries


def _age(manager: ManagerEntry, managed: Managed) -> tuple[str, ...]:
    return (
        manager.operation,
        managed.time or "",
        manager.name,
        managed.api_version,
        manager.subresource,
    )


def capped(managers: Managers) -> Managers:
    """Return ``managers``, with old ``Update`` entries merged if there are too many of them.

    The oldest ``Update`` entries of each API version are merged into one.
    """
    updaters = [each for each in managers if each.operation == UPDATE]
    excess = len(updaters) - MAX_UPDATERS
    if excess <= 0:
        return managers
    result = dict(managers)
    oldest: dict[str, ManagerEntry] = {}  # by version
    for manager in sorted(updaters, key=lambda each: (managers[each].time or "", each.identity)):
        if excess <= 0:
            break
        version = managers[manager].api_version
        if version not in oldest:
            oldest[version] = manager
            continue
        bucket = updater(ANCIENT, version, "")
        if bucket not in result:
            result[bucket] = result.pop(oldest[version])
        joined = union(managers[manager].fields, result[bucket].fields)
        result[bucket] = managers[manager]._replace(fields=ordered(joined))
        result.pop(manager)
        excess -= 1
    return result
