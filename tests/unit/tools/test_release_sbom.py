import json
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from referencing import Registry
from referencing.jsonschema import DRAFT7

from tools.release.artifacts import digest
from tools.release.sbom import sbom

METADATA = """\
Metadata-Version: 2.4
Name: steersman
Version: 1.2.3
Summary: Operators
License-Expression: Apache-2.0
Requires-Dist: PyYAML>=6
Requires-Dist: no-such-library; python_version < "3"
Provides-Extra: cli
Requires-Dist: jinja2; extra == "cli"
Provides-Extra: dev
Requires-Dist: steersman[cli]; extra == "dev"
Requires-Dist: steersman-cluster==1.2.3; extra == "dev"
"""

SCHEMAS = ("bom-1.6", "spdx", "jsf-0.82")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "steersman-1.2.3-py3-none-any.whl"
    with ZipFile(path, "w") as packed:
        packed.writestr("steersman-1.2.3.dist-info/METADATA", METADATA)
    return path


def errors_of(bom: Any) -> list[str]:
    """The errors by the schema of CycloneDX."""
    directory = files("cyclonedx.schema._res")
    main, *others = (
        json.loads((directory / f"{name}.SNAPSHOT.schema.json").read_text("utf-8"))
        for name in SCHEMAS
    )
    registry: Registry[Any] = Registry().with_resources(
        [(each["$id"], DRAFT7.create_resource(each)) for each in (main, *others)]
    )
    return [error.message for error in Draft7Validator(main, registry=registry).iter_errors(bom)]


@pytest.mark.needs_tools
def test_an_sbom_is_valid(wheel: Path) -> None:
    bom = json.loads(sbom(wheel, epoch=0))
    broken = {**bom, "components": [{"type": "wheel"}]}

    assert errors_of(bom) == []
    assert errors_of(broken) != []


def test_an_sbom_describes_its_wheel(wheel: Path) -> None:
    component = json.loads(sbom(wheel, epoch=0))["metadata"]["component"]

    assert component["purl"] == "pkg:pypi/steersman@1.2.3"
    assert component["hashes"] == [{"alg": "SHA-256", "content": digest(wheel)}]
    assert component["licenses"] == [{"expression": "Apache-2.0"}]


def test_an_sbom_lists_what_pip_installs_with_the_wheel(wheel: Path) -> None:
    bom = json.loads(sbom(wheel, epoch=0))

    scopes = {each["name"]: each["scope"] for each in bom["components"]}
    assert scopes == {
        "jinja2": "optional",
        "markupsafe": "optional",
        "pyyaml": "required",
        "steersman-cluster": "optional",
    }
    depends = {each["ref"].partition("@")[0]: each["dependsOn"] for each in bom["dependencies"]}
    assert [each.partition("@")[0] for each in depends["pkg:pypi/jinja2"]] == [
        "pkg:pypi/markupsafe"
    ]
    assert [each.partition("@")[0] for each in depends["pkg:pypi/steersman"]] == [
        "pkg:pypi/jinja2",
        "pkg:pypi/pyyaml",
        "pkg:pypi/steersman-cluster",
    ]


def test_an_sbom_refers_to_that_of_the_other_project(wheel: Path) -> None:
    components = json.loads(sbom(wheel, epoch=0))["components"]

    other = next(each for each in components if each["name"] == "steersman-cluster")
    assert other["externalReferences"] == [
        {"type": "bom", "url": "steersman_cluster-1.2.3.cdx.json"}
    ]


def test_equal_wheels_have_equal_sboms(wheel: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / wheel.name
    copy.parent.mkdir()
    copy.write_bytes(wheel.read_bytes())

    assert sbom(copy, epoch=0) == sbom(wheel, epoch=0)
    assert '"timestamp": "1970-01-01T00:00:00Z"' in sbom(wheel, epoch=0)
