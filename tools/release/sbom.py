"""A software bill of materials of a wheel, in CycloneDX 1.6 JSON.

The wheels contain no code of others. The SBOM therefore lists what pip installs with the wheel, at
the versions with which this release was tested: the required dependencies, and those of the extras
as ``optional``. The other project of this repository is one component; its dependencies are in its
own SBOM.
"""

import email
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release.artifacts import PROJECTS, digest

# A serial number is derived from the wheel: equal wheels have equal SBOMs.
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "sbom.steersman")


@dataclass
class _Component:
    name: str
    version: str
    licenses: list[dict[str, Any]]
    scope: str
    requires: set[str] = field(default_factory=set)

    @property
    def ref(self) -> str:
        return purl(self.name, self.version)


def purl(name: str, version: str) -> str:
    """The package URL of a release of a Python package."""
    return f"pkg:pypi/{canonicalize_name(name)}@{version}"


def metadata_of(wheel: Path) -> Message:
    """The core metadata in a wheel."""
    with ZipFile(wheel) as packed:
        (path,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(packed.read(path))


def sbom(wheel: Path, *, epoch: int) -> str:
    """The SBOM of a wheel, as the text of a file."""
    about = metadata_of(wheel)
    name, version = str(about["Name"]), str(about["Version"])
    components = _components(about)
    own = purl(name, version)
    direct = _required(about.get_all("Requires-Dist", []), _extras(about)).keys() - {name}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, digest(wheel))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": name,
                "version": version,
                "description": str(about["Summary"]),
                "hashes": [{"alg": "SHA-256", "content": digest(wheel)}],
                "licenses": _licenses(about),
                "purl": own,
            },
        },
        "components": [_as_json(each) for _, each in sorted(components.items())],
        "dependencies": [
            {"ref": own, "dependsOn": _refs(direct, components)},
            *(
                {"ref": each.ref, "dependsOn": _refs(each.requires, components)}
                for _, each in sorted(components.items())
            ),
        ],
    }
    return json.dumps(bom, indent=2, ensure_ascii=False) + "\n"


def _components(about: Message) -> dict[str, _Component]:
    """What a wheel with this metadata requires, by name; required before optional."""
    found: dict[str, _Component] = {}
    requirements = about.get_all("Requires-Dist", [])
    seen: set[tuple[str, frozenset[str]]] = set()
    for scope, extras in (("required", set[str]()), ("optional", _extras(about))):
        waiting = [*_required(requirements, extras).items()]
        while waiting:
            name, wanted = waiting.pop()
            # An extra of a project may require another extra of the same project.
            if name == about["Name"] or (name, frozenset(wanted)) in seen:
                continue
            seen.add((name, frozenset(wanted)))
            if name in PROJECTS:
                version, licenses = str(about["Version"]), _licenses(about)
                found.setdefault(name, _Component(name, version, licenses, scope))
                continue
            installed = distribution(name)
            licenses = _licenses(installed.metadata)
            component = found.setdefault(name, _Component(name, installed.version, licenses, scope))
            further = _required(installed.requires or [], wanted)
            component.requires |= further.keys()
            waiting += further.items()
    return found


def _required(requirements: list[str], extras: set[str]) -> dict[str, set[str]]:
    """The names in ``requirements`` that apply here, with their extras."""
    found: dict[str, set[str]] = {}
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            found.setdefault(canonicalize_name(requirement.name), set()).update(requirement.extras)
    return found


def _extras(about: Message) -> set[str]:
    return set(about.get_all("Provides-Extra", []))


def _licenses(about: Any) -> list[dict[str, Any]]:
    """The licenses that the metadata declares: an expression, or else names."""
    # From Python 3.15 on, metadata["License"] fails if there is none.
    if expression := about.get("License-Expression"):
        return [{"expression": expression}]
    return [{"license": {"name": name}} for name in _license_names(about)]


def _license_names(about: Any) -> Iterator[str]:
    written = about.get("License")
    # Some packages have the whole text of the license there.
    if written and "\n" not in written:
        yield written
        return
    for classifier in about.get_all("Classifier") or []:
        if classifier.startswith("License ::"):
            yield classifier.rpartition(" :: ")[2]


def _as_json(component: _Component) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": component.ref,
        "name": component.name,
        "version": component.version,
        "scope": component.scope,
        "licenses": component.licenses,
        "purl": component.ref,
    }
    if component.name in PROJECTS:
        file = sbom_name(component.name, component.version)
        entry["externalReferences"] = [{"type": "bom", "url": file}]
    return entry


def _refs(names: set[str], components: dict[str, _Component]) -> list[str]:
    return sorted(components[name].ref for name in names)


def sbom_name(project: str, version: str) -> str:
    """The file name of a project's SBOM."""
    return f"{project.replace('-', '_')}-{version}.cdx.json"
