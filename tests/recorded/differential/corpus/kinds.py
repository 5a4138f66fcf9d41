"""The built-in kinds, with a sample of each, and the paths of their objects."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from steersman.openapi import load_all_facts
from tests.recorded.differential.scenario import (
    Changed,
    Json,
    Last,
    Raw,
    Request,
    Scenario,
    Settled,
    edited,
    slug,
)
from tests.recorded.differential.yaml_documents import from_yaml, to_yaml

SAMPLES = Path(__file__).parents[1] / "samples.yaml"

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
YAML = "application/yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind, its path, and a sample."""

    api_version: str
    name: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]
    subresources: frozenset[str]
    sample: Json

    @property
    def title(self) -> str:
        """The prefix of the names of its scenarios: ``core/v1/pods``."""
        group_version = self.api_version if "/" in self.api_version else f"core/{self.api_version}"
        return f"{group_version}/{self.plural}"

    @property
    def root(self) -> str:
        """The path of its group and version."""
        return (
            f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        )


@cache
def builtin_kinds() -> Mapping[str, Kind]:
    """Every built-in kind that can be created and is stored, by its title."""
    samples = from_yaml(SAMPLES.read_text(encoding="utf-8"))
    found: list[Kind] = []
    for each in load_all_facts().values():
        api_version = f"{each['group']}/{each['version']}".lstrip("/")
        for plural, resource in each["resources"].items():
            sample = samples.get(f"{api_version} {plural}")
            if sample is not None:
                found.append(
                    Kind(
                        api_version=api_version,
                        name=resource["kind"],
                        plural=plural,
                        namespaced=resource["namespaced"],
                        verbs=frozenset(resource["verbs"]),
                        subresources=frozenset(resource.get("subresources", ())),
                        sample=sample,
                    )
                )
    return {kind.title: kind for kind in sorted(found, key=lambda kind: kind.title)}


def as_yaml(document: Json) -> Raw:
    """The document in YAML."""
    return Raw(to_yaml(document).encode())


class Place:
    """The paths and objects of one scenario about a kind, and its requests."""

    def __init__(
        self, kind: Kind, scenario: str, *, needs: tuple[str, ...] = (), within: str = ""
    ) -> None:
        self.kind = kind
        self.slug = within or slug(f"{kind.title}/{scenario}")
        self._name = f"{kind.title}/{scenario}"
        self._needs = needs
        self._sample = json.dumps(kind.sample).replace("NAMESPACE", self.slug)

    def scenario(self, *requests: Request) -> Scenario:
        """A scenario with these requests."""
        return Scenario(
            name=self._name,
            requests=requests,
            namespace=self.slug if self.kind.namespaced else None,
            needs=self._needs,
        )

    # Objects.

    def name(self, short: str) -> str:
        """The name of an object; for a cluster-scoped kind, it contains the scenario."""
        match self.kind.plural:
            case "ipaddresses":
                seed = zlib.crc32(f"{self.slug} {short}".encode())
                return f"10.200.{seed % 256}.{seed // 256 % 250 + 1}"
            case "apiservices":
                return f"v1.aggregated-{self.slug}.example.com"
            case "customresourcedefinitions":
                return f"samples.{self.slug}.example.com"
            case _:
                return short if self.kind.namespaced else f"{self.slug}-{short}"

    def object(self, short: str, changes: Mapping[str, Json] | None = None) -> Json:
        """The sample with this name and these changes."""
        metadata = {"name": self.name(short), "labels": {"scenario": self.slug}}
        document = {**json.loads(self._sample), "metadata": metadata}
        return edited(document, changes) if changes else document

    def bare(self, short: str, metadata: Json | None = None, **parts: Json) -> Json:
        """An object with only these fields."""
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.name,
            "metadata": {"name": self.name(short), **(metadata or {})},
            **parts,
        }

    # Addresses.

    def path(
        self,
        short: str | None = None,
        *,
        sub: str = "",
        namespace: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> str:
        """The path of an object or of the collection, with a query."""
        where = f"/namespaces/{namespace or self.slug}" if self.kind.namespaced else ""
        which = f"/{self.name(short)}" if short is not None else ""
        below = f"/{sub}" if sub else ""
        asked = f"?{urlencode(query, safe='{}')}" if query else ""
        return f"{self.kind.root}{where}/{self.kind.plural}{which}{below}{asked}"

    def _only_mine(self, query: Mapping[str, str]) -> dict[str, str]:
        """The query, limited to the objects of this scenario."""
        mine = f"scenario={self.slug}"
        selector = ",".join(filter(None, (mine, query.get("labelSelector"))))
        return {**query, "labelSelector": selector}

    # Requests. The arguments after the name are: the object, the body, and the options.

    def get(
        self,
        name: str,
        short: str,
        *,
        sub: str = "",
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        until: Settled | None = None,
    ) -> Request:
        """Get an object."""
        path = self.path(short, sub=sub, query=query)
        return Request(name=name, method="GET", path=path, headers=headers or {}, until=until)

    def list(
        self,
        name: str,
        query: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """List the objects of this scenario."""
        asked = dict(query or {}) if self.kind.namespaced else self._only_mine(query or {})
        return Request(name=name, method="GET", path=self.path(query=asked), headers=headers or {})

    def watch(self, name: str, query: Mapping[str, str] | None = None) -> Request:
        """Watch the objects of this scenario, for a second."""
        return self.list(name, {"watch": "true", "timeoutSeconds": "1", **(query or {})})

    def follow(
        self,
        name: str,
        last: tuple[str, str],
        query: Mapping[str, str] | None = None,
        *,
        short: str | None = None,
        everywhere: bool = False,
        old_style: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Watch the objects of this scenario, up to the event of this type and object."""
        asked = {"timeoutSeconds": "60", **(query or {})}
        if not old_style:
            asked["watch"] = "true"
        if short is None and (everywhere or not self.kind.namespaced):
            asked = self._only_mine(asked)
        path = self.path(short, query=asked)
        if everywhere:
            path = path.replace(f"/namespaces/{self.slug}", "", 1)
        if old_style:
            path = path.replace(self.kind.root, f"{self.kind.root}/watch", 1)
        last_event = Last(last[0], self.name(last[1]))
        return Request(
            name=name, method="GET", path=path, headers=headers or {}, ends_with=last_event
        )

    def create(
        self,
        name: str,
        body: Json,
        query: Mapping[str, str] | None = None,
        *,
        namespace: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Create an object."""
        path = self.path(namespace=namespace, query=query)
        return Request(name=name, method="POST", path=path, body=body, headers=headers or {})

    def update(
        self,
        name: str,
        short: str,
        body: Json | Changed,
        query: Mapping[str, str] | None = None,
        *,
        sub: str = "",
    ) -> Request:
        """Update an object."""
        path = self.path(short, sub=sub, query=query)
        return Request(name=name, method="PUT", path=path, body=body)

    def patch(
        self,
        name: str,
        short: str,
        body: Json,
        *,
        sends: str = MERGE_PATCH,
        sub: str = "",
        query: Mapping[str, str] | None = None,
    ) -> Request:
        """Patch an object."""
        path = self.path(short, sub=sub, query=query)
        headers = {"Content-Type": sends}
        return Request(name=name, method="PATCH", path=path, body=body, headers=headers)

    def apply(
        self,
        name: str,
        short: str,
        body: Json,
        *,
        manager: str = "mine",
        force: bool = False,
        sub: str = "",
        query: Mapping[str, str] | None = None,
    ) -> Request:
        """Apply an object."""
        asked = {
            **({"fieldManager": manager} if manager else {}),
            **({"force": "true"} if force else {}),
            **(query or {}),
        }
        return self.patch(name, short, body, sends=APPLY_PATCH, sub=sub, query=asked)

    def delete(
        self,
        name: str,
        short: str | None,
        options: Json | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Request:
        """Delete an object, or all that the query selects."""
        asked = dict(query or {})
        if short is None and not self.kind.namespaced:
            asked = self._only_mine(asked)
        return Request(name=name, method="DELETE", path=self.path(short, query=asked), body=options)
