"""The names of an operator, and the settings of its manager."""

from dataclasses import replace

import pytest

import steersman as sm
from steersman.errors import BadName, BadValue
from steersman.kinds import core_v1
from steersman.manager import ManagerSettings
from tests.unit.manifests.operators import (
    REGIONS,
    SHOPS,
    Region,
    Shop,
    Spec,
    Status,
    installation,
    reconcile,
)


def test_external_kinds_are_not_installed() -> None:
    pods = sm.Controller(core_v1.Pod, reconcile=reconcile)
    second = sm.Controller(Shop, reconcile=reconcile, name="second")

    assert installation(SHOPS, pods, second, REGIONS).kinds == (Shop, Region)


def test_kinds_of_its_group_without_a_controller_are_installed() -> None:
    class Elsewhere(sm.CustomResource[Spec, Status], group="other.example.com", version="v1"):
        """A kind of another group, perhaps of another operator."""

    class Foreign(
        sm.CustomResource[Spec, Status], group="shop.example.com", version="v1", crd=None
    ):
        """A kind of the same group, defined elsewhere."""

    shops = sm.Controller(
        Shop,
        reconcile=reconcile,
        watches=(sm.Watch(Region), sm.Watch(Elsewhere)),
        reads=(Foreign,),
    )

    assert installation(shops).kinds == (Shop, Region)


@pytest.mark.parametrize(
    "name", ["", "Shops", "shops_", "1shops", "-shops", "shops-", "shops.example", "s" * 51]
)
def test_a_name_that_is_not_a_valid_namespace_is_rejected(name: str) -> None:
    with pytest.raises(BadName, match="is not the name of an operator"):
        installation(name=name)


@pytest.mark.parametrize(
    "image",
    [
        "shops",
        "shops:1.2.3",
        "team/shops:latest",
        "registry.example.com:5000/team/shops:v1",
        "localhost:5000/shops@sha256:" + "0" * 64,
        "a__b/c-d.e:T_1",
    ],
)
def test_an_image_has_a_valid_reference(image: str) -> None:
    assert installation(image=image).image == image


@pytest.mark.parametrize(
    "image", ["", "Shops", "shops:", "shops:1 2", "/shops", "a//b", "shops@sha256:12", "shops:-1"]
)
def test_an_invalid_image_reference_is_rejected(image: str) -> None:
    with pytest.raises(BadName, match="is not the name of an image"):
        installation(image=image)


@pytest.mark.parametrize("version", ["0.1.0", "1.2.3-rc.1", "1.2.3-alpha+build.5"])
def test_a_version_is_a_semantic_version(version: str) -> None:
    assert installation(version=version).version == version


@pytest.mark.parametrize("version", ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3.dev0", "1.2.3-01"])
def test_a_version_that_is_not_semantic_is_rejected(version: str) -> None:
    with pytest.raises(BadName, match="is not the version of an operator"):
        installation(version=version)


def test_a_version_becomes_a_valid_label_value() -> None:
    labels = installation(version="1.2.3-alpha+build.5").labels

    assert labels["app.kubernetes.io/version"] == "1.2.3-alpha_build.5"


def test_an_operator_has_a_controller_and_a_replica() -> None:
    with pytest.raises(BadValue, match="at least one controller"):
        replace(installation(), controllers=())
    with pytest.raises(BadValue, match="it must be at least 1"):
        installation(replicas=0)
    with pytest.raises(BadName, match="is not a namespace"):
        installation(namespaces=("Team",))


def test_the_manager_gets_its_namespaces_and_addresses() -> None:
    settings = installation(namespaces=("team-a", "team-b", "team-a")).settings

    assert settings == ManagerSettings(
        namespaces=("team-a", "team-b"),
        lease_name="shop.shop.example.com",
        health_address=":8081",
        metrics_address=":8443",
        log_style="json",
    )


def test_without_metrics_there_is_no_metrics_listener() -> None:
    assert installation(metrics=False).settings.metrics is None
