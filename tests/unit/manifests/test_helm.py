"""The files of a chart; tests/real/foreign renders it with Helm."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml

from steersman.manifests import Tree, helm_tree
from steersman.manifests.distribution.chart_values import split_image
from tests.unit.manifests.operators import REGIONS, SHOPS, installation


def key_paths(mapping: Mapping[str, Any], *path: str) -> Iterator[str]:
    """All paths of keys in a document."""
    for key, value in mapping.items():
        yield ".".join((*path, key))
        if isinstance(value, Mapping):
            yield from key_paths(value, *path, key)


def templates(tree: Tree) -> str:
    return "".join(text for path, text in tree.items() if path.startswith("templates/"))


def test_a_chart_has_the_metadata_of_the_operator() -> None:
    tree = helm_tree(
        installation(
            description="Keeps shops\nopen.\n\nAll of them.",
            maintainers=(("Ada", "ada@example.com"), ("Grace", "")),
        )
    )

    assert yaml.safe_load(tree["Chart.yaml"]) == {
        "apiVersion": "v2",
        "name": "shops",
        "description": "Keeps shops open.",
        "type": "application",
        "version": "1.2.3",
        "appVersion": "1.2.3",
        "kubeVersion": ">=1.29.0-0",
        "keywords": ["operator"],
        "maintainers": [{"name": "Ada", "email": "ada@example.com"}, {"name": "Grace"}],
    }


def test_an_operator_without_a_description_is_named_by_its_kinds() -> None:
    tree = helm_tree(installation(SHOPS, REGIONS))

    assert yaml.safe_load(tree["Chart.yaml"])["description"] == "An operator for Shop and Region."


def test_a_chart_is_the_same_bytes_every_time() -> None:
    what = installation(SHOPS, REGIONS, namespaces=("b", "a"))

    assert list(helm_tree(what).items()) == list(helm_tree(what).items())


def test_every_value_that_a_template_uses_is_in_values_yaml() -> None:
    tree = helm_tree(installation(SHOPS, REGIONS))
    values = set(key_paths(yaml.safe_load(tree["values.yaml"])))

    asked = set(re.findall(r"\$\.Values\.([\w.]+)", templates(tree)))

    assert asked - values == set()
    # A template uses the parts of the image together.
    assert {word for word in values if "." not in word} == {word.split(".")[0] for word in asked}


def test_the_schema_has_exactly_the_values() -> None:
    tree = helm_tree(installation(namespaces=("a",)))
    schema, values = json.loads(tree["values.schema.json"]), yaml.safe_load(tree["values.yaml"])

    def check(schema: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(values) <= set(schema["properties"])
        for key, value in values.items():
            if "properties" in schema["properties"][key]:
                check(schema["properties"][key], value)

    check(schema, values)
    assert set(schema["properties"]) - set(values) == {"enabled", "global"}


def test_default_values_are_those_of_the_installation() -> None:
    what = installation(
        image="example.com:5000/team/shops:v1", replicas=3, namespaces=("a", "b"), metrics=False
    )

    values = yaml.safe_load(helm_tree(what)["values.yaml"])

    assert values["image"] == {
        "repository": "example.com:5000/team/shops",
        "tag": "v1",
        "digest": "",
        "pullPolicy": "",
    }
    assert (values["replicas"], values["namespaces"]) == (3, ["a", "b"])
    assert values["metrics"]["enabled"] is False


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("shops", ("shops", "", "")),
        ("shops:1", ("shops", "1", "")),
        ("host:5000/shops", ("host:5000/shops", "", "")),
        ("host:5000/a/shops:1", ("host:5000/a/shops", "1", "")),
        ("shops@sha256:ab", ("shops", "", "sha256:ab")),
        ("shops:1@sha256:ab", ("shops", "1", "sha256:ab")),
    ],
)
def test_an_image_is_split_into_its_parts(image: str, expected: tuple[str, str, str]) -> None:
    assert split_image(image) == expected


def test_definitions_are_templates_so_that_helm_upgrades_them() -> None:
    paths = [PurePosixPath(path) for path in helm_tree(installation(SHOPS, REGIONS))]

    assert not any(path.parts[0] == "crds" for path in paths)
    assert {path.name for path in paths if path.parts[:2] == ("templates", "crds")} == {
        "regions.shop.example.com.yaml",
        "shops.shop.example.com.yaml",
    }


def test_no_template_contains_the_installations_namespace() -> None:
    text = templates(helm_tree(installation(SHOPS, REGIONS)))

    assert "shops-system" not in text
    assert "steersman-some-namespace" not in text


def test_braces_in_an_authors_text_are_escaped() -> None:
    tree = helm_tree(installation(title="{{ .Values.x }} TITLE CRDS", description="{{ boom }}"))

    assert tree["templates/NOTES.txt"].startswith('{{ "{{" }} .Values.x }} TITLE CRDS {{ $.Chart')
    assert yaml.safe_load(tree["Chart.yaml"])["description"] == "{{ boom }}"
