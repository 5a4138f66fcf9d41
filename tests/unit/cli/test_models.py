"""Definitions in files, and the modules of models: all of them are written, or none."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from steersman.cli.models import definitions_in, models_tree, write_models
from steersman.errors import BadDefinition, BadName, BadValue, EditedByHand
from tests.unit.manifests.crds import definition, fields, of_versions, rich, version

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"


def names_of(text: str) -> list[str]:
    return [each["metadata"]["name"] for each in definitions_in(text, source="crds.yaml")]


def test_every_definition_among_the_documents_of_a_file_is_found() -> None:
    text = "---\n".join(["", yaml.safe_dump(definition()), CONFIG_MAP, "", yaml.safe_dump(rich())])

    assert names_of(text) == ["widgets.shop.example.com", "gadgets.shop.example.com"]


@pytest.mark.parametrize("kind", ["List", "CustomResourceDefinitionList"])
def test_definitions_in_a_list_are_found_in_json_too(kind: str) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": kind, "items": [definition(), rich()]})

    assert len(names_of(text)) == 2


def test_a_date_in_a_definition_is_read_as_text() -> None:
    text = yaml.safe_dump(definition(fields(day={"type": "string", "default": "DAY"})))

    (found,) = definitions_in(text.replace("DAY", "2026-01-01"), source="crds.yaml")

    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["properties"]["day"]["default"] == "2026-01-01"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it contains no document, but no CustomResourceDefinition"),
        (CONFIG_MAP, "it contains ConfigMap, but no CustomResourceDefinition"),
        ("just words", "it contains no document"),
        ("a: [", "of it is not YAML"),
        ("a: b: c", "line 1 of it is not YAML"),
        ("\x00", "is not YAML"),
        ("a: &x 1\nb: *x\n", "it contains YAML aliases"),
        ("a: !!python/name:os.system x\n", "is not YAML"),
        ("[" * 1500, "it"),
        ("9" * 5000, "it"),
        (
            "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n",
            "it contains a CustomResourceDefinition of apiextensions.k8s.io/v1beta1",
        ),
    ],
    ids=range(11),
)
def test_a_file_without_a_definition_is_rejected(text: str, why: str) -> None:
    with pytest.raises(BadDefinition, match=r"^crds\.yaml is not a Custom") as error:
        definitions_in(text, source="crds.yaml")

    assert why in str(error.value)


def test_each_served_version_has_a_module() -> None:
    crd = of_versions(version("v1"), version("v2beta1"), version("v0", served=False))

    tree = models_tree([crd])

    assert sorted(tree) == ["widget_v1.py", "widget_v2beta1.py"]
    assert 'version="v2beta1"' in tree["widget_v2beta1.py"]
    for text in tree.values():
        ast.parse(text)


def test_a_version_can_be_requested_although_it_is_not_served() -> None:
    crd = of_versions(version("v1"), version("v0", served=False))

    assert sorted(models_tree([crd], version="v0")) == ["widget_v0.py"]
    with pytest.raises(BadValue, match="its versions are: v1, v0"):
        models_tree([crd], version="v9")


@pytest.mark.parametrize(
    ("kind", "module"),
    [("HTTPRoute", "http_route_v1.py"), ("CronTab", "cron_tab_v1.py"), ("IP", "ip_v1.py")],
)
def test_a_module_is_named_after_its_kind_and_version(kind: str, module: str) -> None:
    crd = definition()
    crd["spec"]["names"]["kind"] = kind

    assert sorted(models_tree([crd])) == [module]


def test_two_kinds_of_the_same_name_have_separate_modules() -> None:
    with pytest.raises(BadDefinition, match="its models would be written to widget_v1"):
        models_tree([definition(), definition(group="other.example.com")])


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "CustomResourceDefinition"},
        definition(versions=[]),
        definition() | {"spec": None},
        of_versions(version("v1", served=False)),
    ],
)
def test_a_definition_without_a_served_version_is_rejected(broken: Any) -> None:
    with pytest.raises(BadDefinition, match="none of its versions is served"):
        models_tree([broken])


def test_an_invalid_name_is_never_used_as_a_path() -> None:
    crd = definition()
    crd["spec"]["names"]["kind"] = "../../Widget"

    with pytest.raises(BadName):
        models_tree([crd])


def test_unchanged_models_are_not_written_again(tmp_path: Path) -> None:
    tree = models_tree([rich()])

    assert write_models(tmp_path / "models", tree) == (tmp_path / "models" / "gadget_v1.py",)
    assert write_models(tmp_path / "models", tree) == ()
    assert (tmp_path / "models" / "gadget_v1.py").read_text("utf-8") == tree["gadget_v1.py"]


def test_models_of_other_kinds_are_kept(tmp_path: Path) -> None:
    write_models(tmp_path, models_tree([rich()]))
    write_models(tmp_path, models_tree([definition()]))

    assert sorted(each.name for each in tmp_path.glob("*.py")) == ["gadget_v1.py", "widget_v1.py"]


def test_edited_models_are_kept_and_nothing_is_written(tmp_path: Path) -> None:
    write_models(tmp_path, models_tree([rich()]))
    path = tmp_path / "gadget_v1.py"
    path.write_text("# mine\n", "utf-8")

    with pytest.raises(EditedByHand) as refused:
        write_models(tmp_path, models_tree([definition(), rich()]))

    assert "+# mine" in refused.value.diff
    assert path.read_text("utf-8") == "# mine\n"
    assert not (tmp_path / "widget_v1.py").exists()


def test_edited_models_are_replaced_by_force(tmp_path: Path) -> None:
    (tmp_path / "gadget_v1.py").write_text("# mine\n", "utf-8")

    written = write_models(tmp_path, models_tree([rich()]), force=True)

    assert written == (tmp_path / "gadget_v1.py",)
    assert "class Gadget(" in written[0].read_text("utf-8")


def test_a_project_keeps_the_record_of_its_models(tmp_path: Path) -> None:
    settings = 'target = "shop.operator"\nname = "shop"\ndomain = "a.io"\nimage = "shop:1"\n'
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "0.1.0"\n'
        f'[tool.steersman]\n{settings}scaffold = "0.1.0"\n',
        "utf-8",
    )
    place = tmp_path / "src" / "shop" / "models"

    assert write_models(place, models_tree([rich()])) == (place / "gadget_v1.py",)

    assert not (place / ".steersman").exists()
    recorded = (tmp_path / ".steersman" / "generated.json").read_text("utf-8")
    assert "src/shop/models/gadget_v1.py" in recorded
