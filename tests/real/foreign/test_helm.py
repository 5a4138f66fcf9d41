"""Helm renders a chart to install.yaml, unless its values change that."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opdemo import appservice

import steersman as sm
from docs.code import appservice_plain
from steersman.kinds import core_v1
from steersman.manifests import (
    DeploySettings,
    Document,
    Installation,
    install_documents,
    parts_of,
)
from steersman.manifests.distribution.chart_templates import TemplateString, template_of
from tests.real.foreign.packages import Chart, ProgramFailed, chart_of, rendered
from tests.unit.manifests.operators import ADDED, REGIONS, SHOPS, installation, reconcile

KEEP = "helm.sh/resource-policy"


class OddSpec(sm.Part):
    """{{ template "missing" }} and {{- .Values.secret -}}, as in user input.

    "quoted": 'text' # and no comment
        {{/* indented */}}
    """

    y: int = 0
    """{{ end }}"""
    answer: Literal["y", "n", "1e3", "{{"] = "y"


class OddStatus(sm.Part):
    """}}{{"""


class Oddity(
    sm.CustomResource[OddSpec, OddStatus],
    group="odd.k8s.io",
    version="v1",
    crd=sm.Crd(approved="https://example.com/{{", short_names=("odd",)),
):
    """Everything that looks like a template {{ . }}, and a line break.\u2028"""


INSTALLATIONS = {
    "example": installation(appservice.controller, name="shop-operator"),
    "plain": installation(appservice_plain.controller, replicas=1),
    "both scopes": installation(SHOPS, REGIONS),
    "some namespaces": installation(SHOPS, REGIONS, namespaces=("team-a", "team-b")),
    "no metrics": installation(metrics=False),
    "added": installation(SHOPS, REGIONS, deploy=ADDED, replicas=3),
    "added to some namespaces": installation(SHOPS, namespaces=("team-a",), deploy=ADDED),
    "foreign kind": installation(sm.Controller(core_v1.Secret, reconcile=reconcile)),
    "odd words": installation(
        sm.Controller(Oddity, reconcile=reconcile),
        title="{{ fail }}",
        description="{{ required }}\n\n}}",
        image="shops@sha256:" + "ab" * 32,
        version="1.2.3-rc.1+build.5",
    ),
}


@pytest.fixture
def chart(tmp_path: Path) -> Chart:
    """The chart of an operator with namespaced and cluster-scoped kinds."""
    return chart_of(installation(SHOPS, REGIONS), tmp_path / "chart")


def by_name(documents: Iterable[Document]) -> dict[tuple[str, str, str], Any]:
    """The installed objects by name, with sorted rules.

    Omitted are Helm's annotation of definitions, and the namespace, which Helm creates itself.
    """
    found: dict[tuple[str, str, str], Any] = {}
    for document in documents:
        obj = deepcopy(dict(document))
        meta = obj["metadata"]
        if obj["kind"] == "Namespace":
            continue
        if meta.get("annotations", {}).pop(KEEP, None) and not meta["annotations"]:
            del meta["annotations"]
        if "rules" in obj:
            obj["rules"] = sorted(obj["rules"], key=str)
        key = (obj["kind"], meta.get("namespace", ""), meta["name"])
        assert key not in found
        found[key] = obj
    return found


def one(objects: Iterable[Document], kind: str) -> Any:
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def pod_of(objects: Iterable[Document]) -> Any:
    return one(objects, "Deployment")["spec"]["template"]["spec"]


@pytest.mark.parametrize("what", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_a_chart_gives_the_objects_of_its_install_yaml(what: Installation, tmp_path: Path) -> None:
    chart = chart_of(what, tmp_path / "chart")

    objects = chart.objects()

    assert by_name(objects) == by_name(install_documents(what))


@pytest.mark.parametrize("what", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_helm_lint_reports_nothing(what: Installation, tmp_path: Path) -> None:
    chart = chart_of(what, tmp_path / "chart")

    # The author has to add an icon.
    assert chart.lint() == ["[INFO] Chart.yaml: icon is recommended"]


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ({"replicas": 5}, {"replicas": 5}),
        (
            {"networkPolicy": {"egress": [{"ports": [{"port": 5432, "protocol": "TCP"}]}]}},
            {"deploy": DeploySettings(egress=(ADDED.egress or ())[-1:])},
        ),
        ({"metrics": {"enabled": False}}, {"metrics": False}),
        ({"image": {"tag": "next"}}, {"image": "shops:next"}),
        ({"image": {"repository": "host:1/a"}}, {"image": "host:1/a:1.2.3"}),
        ({"namespaces": ["a", "b"]}, {"namespaces": ("a", "b")}),
        # The namespace of the operator, and the namespace of events about cluster-scoped objects.
        ({"namespaces": ["shops-system", "a"]}, {"namespaces": ("shops-system", "a")}),
        ({"namespaces": ["a", "default"]}, {"namespaces": ("a", "default")}),
        ({"namespaces": ["1", "2e3"]}, {"namespaces": ("1", "2e3")}),
    ],
    ids=str,
)
def test_values_configure_the_operator_like_an_installation(
    values: Mapping[str, Any], changes: Mapping[str, Any], chart: Chart
) -> None:
    expected = install_documents(replace(installation(SHOPS, REGIONS), **changes))

    assert by_name(chart.objects(values)) == by_name(expected)


def test_a_chart_made_for_some_namespaces_can_be_configured_to_manage_all(tmp_path: Path) -> None:
    what = installation(SHOPS, REGIONS, namespaces=("a",))
    chart = chart_of(what, tmp_path / "chart")

    objects = chart.objects({"namespaces": []})

    assert by_name(objects) == by_name(install_documents(replace(what, namespaces=())))


def test_two_releases_share_only_cluster_wide_definitions(chart: Chart) -> None:
    first = by_name(chart.objects(release="one", namespace="other"))
    second = by_name(chart.objects(release="two", namespace="other"))

    shared = {kind for kind, _, _ in first.keys() & second.keys()}
    # Definitions, and the user roles, which are named after them.
    assert shared == {"CustomResourceDefinition", "ClusterRole"}
    assert ("Deployment", "other", "one-shops") in first
    second_without_shared = by_name(
        chart.objects(
            {"crds": {"enabled": False}, "userRoles": {"enabled": False}},
            release="two",
            namespace="other",
        )
    )
    assert not first.keys() & second_without_shared.keys()
    selector = one(first.values(), "Deployment")["spec"]["selector"]
    assert selector != one(second.values(), "Deployment")["spec"]["selector"]


def test_two_releases_in_one_namespace_have_separate_leases(chart: Chart) -> None:
    def leases(release: str) -> set[str]:
        objects = chart.objects(release=release)
        roles = (each for each in objects if each["kind"] == "Role")
        rules = (rule for role in roles for rule in role["rules"] if "resourceNames" in rule)
        (container,) = pod_of(objects)["containers"]
        (lease_name,) = (
            each["value"] for each in container["env"] if each["name"] == "STEERSMAN_LEASE_NAME"
        )
        return {lease_name, *(name for rule in rules for name in rule["resourceNames"])}

    (first,), (second,) = leases("one"), leases("two")

    assert first != second


@pytest.mark.parametrize("release", ["a" * 53, "one.two", "shops-of-a client"])
def test_names_are_valid_for_any_release_name(release: str, chart: Chart) -> None:
    (service,) = (each for each in chart.objects(release=release) if each["kind"] == "Service")

    name = service["metadata"]["name"]
    assert len(name) <= 63
    assert "." not in name
    # A release name that contains the operator's name does not get it twice.
    assert "shops-shops" not in name


def test_disabled_components_are_omitted(chart: Chart) -> None:
    everything = by_name(chart.objects())

    less = by_name(
        chart.objects(
            {
                "crds": {"enabled": False},
                "userRoles": {"enabled": False},
                "networkPolicy": {"enabled": False},
                "podDisruptionBudget": {"enabled": False},
                "serviceAccount": {"create": False, "name": "other"},
            }
        )
    )

    assert {kind for kind, _, _ in everything.keys() - less.keys()} == {
        "ClusterRole",
        "CustomResourceDefinition",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ServiceAccount",
    }
    assert pod_of(less.values())["serviceAccountName"] == "other"
    bindings = [obj for (kind, _, _), obj in less.items() if kind.endswith("RoleBinding")]
    assert {subject["name"] for each in bindings for subject in each["subjects"]} == {"other"}


def test_definitions_survive_an_uninstall_unless_configured_otherwise(chart: Chart) -> None:
    kept = chart.objects()
    gone = chart.objects({"crds": {"keep": False}})

    def policies(objects: Iterable[Document]) -> set[str | None]:
        crds = (each for each in objects if each["kind"] == "CustomResourceDefinition")
        return {each["metadata"].get("annotations", {}).get(KEEP) for each in crds}

    assert (policies(kept), policies(gone)) == ({"keep"}, {None})


def test_a_service_monitor_is_rendered_if_enabled(chart: Chart) -> None:
    expected = parts_of(installation(SHOPS, REGIONS)).monitor
    assert expected is not None

    wanted = {"enabled": True, "labels": {"release": "prometheus"}}
    monitor = one(chart.objects({"metrics": {"serviceMonitor": wanted}}), "ServiceMonitor")

    assert monitor["spec"] == expected["spec"]
    assert monitor["metadata"]["labels"] == {
        **expected["metadata"]["labels"],
        "release": "prometheus",
    }
    off = {"metrics": {"enabled": False, "serviceMonitor": wanted}}
    assert not [each for each in chart.objects(off) if each["kind"] == "ServiceMonitor"]


def test_values_set_scheduling_names_and_resources_of_the_pods(chart: Chart) -> None:
    usual = pod_of(chart.objects())
    values: dict[str, Any] = {
        "logLevel": "debug",
        "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}],
        "resources": {"limits": {"memory": None, "cpu": "2"}},
        "nodeSelector": {"disk": "1e3"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "high",
        "podAnnotations": {"a": "{{ b }}"},
        "podLabels": {"c": "d"},
        "imagePullSecrets": [{"name": "registry"}],
        "image": {"pullPolicy": "Always"},
    }

    deployment = one(chart.objects(values), "Deployment")

    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod.pop("containers")
    (before,) = usual.pop("containers")
    assert pod == {
        **usual,
        "nodeSelector": {"disk": "1e3"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "high",
        "imagePullSecrets": [{"name": "registry"}],
    }
    assert container["env"] == [
        *before["env"],
        {"name": "STEERSMAN_LOG_LEVEL", "value": "debug"},
        *values["env"],
    ]
    assert container["resources"]["limits"] == {"cpu": "2"}
    assert container["imagePullPolicy"] == "Always"
    assert deployment["spec"]["template"]["metadata"]["annotations"] == {"a": "{{ b }}"}
    assert deployment["spec"]["template"]["metadata"]["labels"]["c"] == "d"


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"replica": 3}, "replica"),
        ({"replicas": "three"}, "replicas"),
        ({"replicas": -1}, "replicas"),
        ({"replicas": None}, "replicas"),
        ({"image": {"tag": 1.0}}, "tag"),
        ({"image": {"digest": "sha256:short"}}, "digest"),
        ({"image": {"repository": ""}}, "repository"),
        ({"namespaces": "a,b"}, "namespaces"),
        ({"namespaces": ["a", "a"]}, "namespaces"),
        ({"namespaces": ["Not A Name"]}, "namespaces"),
        ({"logLevel": "loud"}, "logLevel"),
        ({"metrics": {"serviceMonitor": True}}, "serviceMonitor"),
        ({"env": {"NAME": "value"}}, "env"),
        ({"fullnameOverride": "Not_A_Name"}, "fullnameOverride"),
    ],
    ids=str,
)
def test_invalid_values_are_rejected(values: Mapping[str, Any], word: str, chart: Chart) -> None:
    with pytest.raises(ProgramFailed, match=word):
        chart.objects(values)


def test_a_parent_chart_can_pass_its_global_values(chart: Chart) -> None:
    objects = chart.objects({"global": {"anything": 1}, "enabled": True, "resources": None})

    (container,) = pod_of(objects)["containers"]
    assert "resources" not in container


def test_the_notes_state_the_namespaces_and_what_an_uninstall_keeps(tmp_path: Path) -> None:
    chart = chart_of(INSTALLATIONS["odd words"], tmp_path / "chart")

    notes = chart.notes({"namespaces": ["a", "b"]})

    assert notes.startswith(
        "{{ fail }} 1.2.3-rc.1+build.5 is in namespace shops-system, and manages namespaces a, b."
    )
    assert "kubectl delete crd oddities.odd.k8s.io" in notes
    assert "delete crd" not in chart.notes({"crds": {"keep": False}})


# Characters with a meaning in YAML or templates, and all others.
WORDS = st.text(
    st.sampled_from("{}-\"'#:|>%&*!?,[]\\ \n\t\r\x85\u2028.10eyn~=") | st.characters(codec="utf-8")
)


@given(st.lists(st.dictionaries(WORDS, WORDS), max_size=10))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_template_renders_any_document_unchanged(
    tmp_path: Path, texts: list[dict[str, str]]
) -> None:
    document = {"kind": "Words", "between": {"texts": texts, "hole": TemplateString("filled")}}

    (obj,) = rendered({"words.yaml": template_of(document, when="true")}, tmp_path)

    assert obj == {"kind": "Words", "between": {"texts": texts, "hole": "filled"}}
