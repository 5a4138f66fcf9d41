"""The Operator Framework's validators accept the bundle."""

from pathlib import Path

import pytest
import yaml
from opdemo import appservice

import steersman as sm
from docs.code import appservice_plain
from steersman.kinds import core_v1
from steersman.manifests import BundleSettings, Installation, bundle_tree
from tests.real.foreign.packages import ProgramFailed, findings_in, findings_in_bundle
from tests.unit.manifests.operators import ADDED, REGIONS, SHOPS, installation, reconcile

PICTURE = ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>")


class PortSpec(sm.Part):
    depth: int = 1
    kind_of_port: str = ""


class PortStatus(sm.Part):
    depth: int = 0
    is_open: bool = False


class PortV1Beta1(
    sm.CustomResource[PortSpec, PortStatus],
    group="sea.example.com",
    version="v1beta1",
    kind="Port",
):
    """An older version of Port."""


class Port(
    sm.CustomResource[PortSpec, PortStatus],
    group="sea.example.com",
    version="v1",
    crd=sm.Crd(
        also_serves=(PortV1Beta1,),
        selectable_fields=(".spec.depth",),
        scale=sm.ScalePaths(spec=".spec.depth", status=".status.depth"),
    ),
):
    """The current version of Port."""


INSTALLATIONS = {
    "example": installation(appservice.controller, maintainers=(("Ada", "ada@example.com"),)),
    "plain": installation(appservice_plain.controller, version="0.1.0-alpha.1+build"),
    "both scopes": installation(SHOPS, REGIONS),
    "some namespaces": installation(SHOPS, REGIONS, namespaces=("team-a", "team-b")),
    "added": installation(SHOPS, REGIONS, deploy=ADDED, bundle=BundleSettings(channel="fast")),
    "two versions": installation(
        sm.Controller(Port, reconcile=reconcile), metrics=False, maintainers=(("Ada", ""),)
    ),
}


@pytest.mark.parametrize("what", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_the_validator_of_operator_framework_reports_no_error_and_no_warning(
    what: Installation, tmp_path: Path
) -> None:
    assert findings_in_bundle(what, tmp_path, icon=PICTURE, replaces="0.0.1") == []


def test_without_an_icon_the_only_warning_is_about_the_icon(tmp_path: Path) -> None:
    (warning,) = findings_in_bundle(installation(), tmp_path)

    assert warning == "Warning: Value : (shops.v1.2.3) csv.Spec.Icon not specified"


def test_an_operator_without_definitions_has_a_valid_bundle(tmp_path: Path) -> None:
    what = installation(sm.Controller(core_v1.Secret, reconcile=reconcile))

    assert findings_in_bundle(what, tmp_path, icon=PICTURE) == []


def test_the_validator_reports_a_definition_without_an_owner(tmp_path: Path) -> None:
    findings_in_bundle(installation(), tmp_path, icon=PICTURE)
    (path,) = tmp_path.glob("manifests/*.crd.yaml")
    crd = yaml.safe_load(path.read_text())
    crd["spec"]["names"]["kind"] = "Warehouse"
    path.write_text(yaml.safe_dump(crd))

    findings = findings_in(tmp_path)

    assert any(line.startswith("Error:") and "Warehouse" in line for line in findings)


def test_the_validator_reports_a_missing_field(tmp_path: Path) -> None:
    findings_in_bundle(installation(), tmp_path)
    path = tmp_path / "manifests" / "shops.clusterserviceversion.yaml"
    csv = yaml.safe_load(bundle_tree(installation())[path.relative_to(tmp_path).as_posix()])
    csv["spec"]["installationModes"] = []
    path.write_text(yaml.safe_dump(csv))

    with pytest.raises(ProgramFailed, match="installationModes"):
        findings_in(tmp_path)
