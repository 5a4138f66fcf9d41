"""Classes become a definition, models, and the same definition again."""

import importlib.util
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

import steersman as sm
from steersman.kinds import apps_v1, core_v1
from steersman.kinds.generate import models_from_crd
from steersman.manifests import as_document, crd_of
from steersman.units import IntOrString, Quantity

# Keywords that a class for an external kind does not repeat: the server validates them.
NOT_CARRIED = (
    "default",
    "minimum",
    "maximum",
    "minLength",
    "pattern",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
)


class Port(sm.Part):
    """Where it listens."""

    name: str
    number: Annotated[int, sm.Rule(ge=1, le=65535)]
    protocol: Literal["TCP", "UDP"] = "TCP"


class Spec(sm.Part, wire_names={"cluster_ips": "clusterIPs"}):
    """What should be."""

    image: str
    """Which image, with its tag."""
    from_: str
    mode: Literal["fast", "safe", "a-mode-with-a-rather-long-name", "and-one-that-is-longer-still"]
    size: int = 1
    """How many.

    - none is fine
    - so are many
    """
    ratio: float | None = None
    owner: Annotated[str | None, sm.Rule(nullable=True)]
    since: datetime | None = None
    key: bytes | None = None
    surge: IntOrString | None = None
    memory: Quantity | None = None
    cluster_ips: tuple[str, ...] = ()
    ports: tuple[Port, ...]
    matrix: tuple[tuple[int, ...], ...] = ()
    labels: Mapping[str, str] | None = None
    limits: Mapping[str, Port] | None = None
    anything: Any = None
    options: Mapping[str, Any] | None = None
    resources: core_v1.ResourceRequirements | None = None


class Status(sm.Part):
    """How it is."""

    ready: bool | None = None
    conditions: tuple[sm.Condition, ...] | None = None


class Gadget(sm.CustomResource[Spec, Status], group="shop.example.com", version="v1"):
    """A gadget."""


class Rollout(
    sm.CustomResource[apps_v1.DeploymentSpec, Status], group="a.example.com", version="v1"
):
    """One with a built-in spec, all of its Pods included."""


def normalised(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: value for key, value in schema.items() if key not in NOT_CARRIED}
    for key in ("items", "additionalProperties"):
        if key in kept:
            kept[key] = normalised(kept[key])
    if "properties" in kept:
        properties = kept["properties"]
        kept["properties"] = {name: normalised(properties[name]) for name in properties}
        # A field with a default is not required: the server fills it in.
        kept["required"] = sorted(
            name for name in kept.get("required", ()) if "default" not in properties[name]
        )
    if kept.get("type") == "integer":
        kept.pop("format", None)
    return kept


def schema_of(crd: Any) -> Any:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def regenerated(source: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The definition of the kind from generated models, as if the kind were the author's own."""
    path = tmp_path / "models_again.py"
    path.write_text(source.replace("    crd=None,\n", "").replace(", crd=None", ""), "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return as_document(crd_of(getattr(module, name)))


@pytest.mark.parametrize("kind", [Gadget, Rollout])
def test_a_definition_made_from_models_of_a_definition_is_the_same(
    kind: type[sm.Resource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crd = as_document(crd_of(kind))

    found = regenerated(models_from_crd(crd), kind.__name__, tmp_path, monkeypatch)

    assert normalised(schema_of(found)) == normalised(schema_of(crd))
    assert found["spec"]["names"] == crd["spec"]["names"]
