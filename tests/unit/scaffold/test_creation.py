"""The creation of projects, kinds and controllers, and the errors for invalid ones."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from steersman.errors import BadName, ProjectError, SteersmanError
from steersman.scaffold import DeclaredKind, Project, create_api, create_controller, init_project
from tests.unit.scaffold.projects import edit, files_in, new_project

OPERATOR = "src/shop_operator/operator.py"

TWICE = """
import sys
from pathlib import Path
from steersman.scaffold import Project, create_api, create_controller, init_project
directory = Path(sys.argv[1]) / "shop-operator"
init_project(directory, domain="example.com")
project = Project.find(directory)
create_api(project, group="app", version="v1", kind="AppService")
create_api(project, group="app", version="v2", kind="AppService")
create_controller(project, group="core", version="v1", kind="Service")
create_controller(project, group="acme.io", version="v1", kind="Anvil")
"""


def test_a_new_project_has_all_its_files_and_its_base(tmp_path: Path) -> None:
    made = init_project(tmp_path / "shop-operator", domain="example.com")

    files = files_in(tmp_path / "shop-operator")
    base = json.loads(files[".steersman/base.json"])["files"]
    assert {*made.written, ".steersman/base.json"} == set(files)
    assert base == {path: files[path] for path in made.written}
    assert {"Makefile", "Dockerfile", "pyproject.toml", OPERATOR} <= set(made.written)


def test_a_project_is_named_after_its_directory_by_default(tmp_path: Path) -> None:
    init_project(tmp_path / "My_Shop", domain="example.com")
    init_project(tmp_path / "b", domain="example.com", name="shop", package="shopping")

    called_after = Project.find(tmp_path / "My_Shop")
    named = Project.find(tmp_path / "b")
    assert (called_after.name, called_after.package) == ("my-shop", "my_shop")
    assert (named.name, named.package, named.image) == ("shop", "shopping", "shop:0.1.0")


def test_a_project_can_be_created_in_a_directory_with_only_git(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)

    init_project(tmp_path / "shop", domain="example.com")

    assert Project.find(tmp_path / "shop").name == "shop"


def test_no_file_names_a_registry_or_contains_a_placeholder(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="AppService")

    for path, text in files_in(project.directory).items():
        assert "http" not in text, path
        assert "{{" not in text, path
        assert "{%" not in text, path
        assert text == "" or text.endswith("\n"), path


def test_the_pyproject_depends_on_this_steersman(tmp_path: Path) -> None:
    project = new_project(tmp_path)

    document = tomllib.loads((project.directory / "pyproject.toml").read_text())

    assert document["project"]["dependencies"] == [f"steersman[tls]>={project.scaffold}"]


def test_the_same_names_give_the_same_bytes_every_time(tmp_path: Path) -> None:
    made: list[dict[str, str]] = []
    for seed in "012":
        directory = tmp_path / seed
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", TWICE, str(directory)], check=True, env=environ)
        made.append(files_in(directory))

    assert made[0] == made[1] == made[2]


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    (project.directory / "samples").mkdir()
    (project.directory / "samples" / "appservice.yaml").write_text("mine\n")
    before = files_in(project.directory)

    with pytest.raises(ProjectError, match=r"samples/appservice\.yaml already exists"):
        create_api(project, group="app", version="v1", kind="AppService")
    with pytest.raises(ProjectError, match="because it is not empty: "):
        init_project(project.directory, domain="example.com")

    assert files_in(project.directory) == before


def test_either_every_file_is_written_or_none_is(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    (project.directory / "samples").write_text("a file where a directory should be\n")
    before = files_in(tmp_path)

    with pytest.raises(ProjectError, match="cannot be written: Not a directory"):
        create_api(project, group="app", version="v1", kind="AppService")
    with pytest.raises(ProjectError, match="Not a directory"):
        init_project(project.directory / "samples" / "shop", domain="example.com")

    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("domain", "name", "package"),
    [
        ("Example.com", "shop", None),
        ("", "shop", None),
        ("example.com", "Shop", None),
        ("example.com", "shop--", None),
        ("example.com", "operator", None),
        ("example.com", "steersman", None),
        ("example.com", "shop", "shop-operator"),
        ("example.com", "shop", "lambda"),
    ],
)
def test_a_project_with_an_invalid_name_is_not_created(
    tmp_path: Path, domain: str, name: str, package: str | None
) -> None:
    with pytest.raises(BadName):
        init_project(tmp_path / "new", domain=domain, name=name, package=package)

    assert not (tmp_path / "new").exists()


def test_a_directory_with_an_unusable_name_needs_an_explicit_project_name(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="Set the name of the project: --name shop-operator"):
        init_project(tmp_path / "10%", domain="example.com")


def test_a_new_kind_has_a_module_tests_a_sample_and_a_controller(tmp_path: Path) -> None:
    project = new_project(tmp_path)

    made = create_api(project, group="app", version="v1", kind="AppService")

    assert made.written == (
        "src/shop_operator/appservice.py",
        "tests/test_appservice.py",
        "samples/appservice.yaml",
    )
    assert made.changed == (OPERATOR,)
    operator = (project.directory / OPERATOR).read_text()
    assert "from shop_operator import appservice\n" in operator
    assert "    controllers=[\n        appservice.controller,\n    ],\n" in operator


@pytest.mark.parametrize(
    ("group", "whole"),
    [("app", "app.example.com"), ("", "example.com"), ("app.acme.io", "app.acme.io")],
)
def test_a_group_without_a_dot_is_completed_by_the_domain(
    tmp_path: Path, group: str, whole: str
) -> None:
    project = new_project(tmp_path)

    create_api(project, group=group, version="v1", kind="App")

    assert f'group="{whole}",' in (project.directory / "src/shop_operator/app.py").read_text()


def test_scope_and_plural_are_written_only_if_not_the_default(tmp_path: Path) -> None:
    project = new_project(tmp_path)

    create_api(project, group="app", version="v1", kind="Mouse", namespaced=False, plural="mice")

    module = (project.directory / "src/shop_operator/mouse.py").read_text()
    assert '    plural="mice",\n    namespaced=False,\n' in module


def test_a_kind_of_the_same_name_in_another_group_has_its_own_module(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")

    made = create_api(project, group="shop", version="v1", kind="Web")

    assert made.written[0] == "src/shop_operator/web_shop.py"
    assert 'name="web-shop",' in (project.directory / made.written[0]).read_text()


def test_another_version_of_a_kind_is_a_class_that_the_first_also_serves(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web", plural="webben")
    edit(
        project,
        "src/shop_operator/web.py",
        "    image: str\n",
        "    image: str\n    mine: int = 3\n",
    )

    made = create_api(project, group="app", version="v1beta1", kind="Web")

    assert made.written == ("src/shop_operator/web_v1beta1.py", "samples/web_v1beta1.yaml")
    assert made.changed == ("src/shop_operator/web.py",)
    older = (project.directory / made.written[0]).read_text()
    assert "class WebV1Beta1(\n    sm.CustomResource[Spec, Status],\n" in older
    assert '    version="v1beta1",\n    kind="Web",\n    plural="webben",\n' in older
    assert "    mine: int = 3\n" in older
    assert "recipes" not in older
    stored = (project.directory / "src/shop_operator/web.py").read_text()
    assert "from shop_operator.web_v1beta1 import WebV1Beta1\n" in stored
    assert "also_serves=(WebV1Beta1,)," in stored
    sample = (project.directory / made.written[1]).read_text()
    assert sample.startswith("apiVersion: app.example.com/v1beta1\nkind: Web\n")


@pytest.mark.parametrize(("namespaced", "plural"), [(False, None), (True, "webben")])
def test_another_version_has_the_scope_and_plural_of_the_first(
    tmp_path: Path, namespaced: bool, plural: str | None
) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")
    before = files_in(tmp_path)

    with pytest.raises(
        ProjectError, match="all versions of a kind must have the same scope and plural"
    ):
        create_api(
            project, group="app", version="v2", kind="Web", namespaced=namespaced, plural=plural
        )

    assert files_in(tmp_path) == before


def test_a_version_that_cannot_be_inserted_is_not_created(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")
    edit(project, "src/shop_operator/web.py", "crd=sm.Crd(", "crd=dict(")
    before = files_in(tmp_path)

    with pytest.raises(ProjectError, match=r"Write crd=sm\.Crd\(also_serves=\(…,\)\) in the class"):
        create_api(project, group="app", version="v2", kind="Web")

    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("group", "version", "kind", "plural", "problem"),
    [
        ("App", "v1", "Web", None, "'App.example.com' is not an API group"),
        ("app_1", "v1", "Web", None, "is not an API group"),
        ("../../etc", "v1", "Web", None, "is not an API group"),
        ("app", "1", "Web", None, "'1' is not an API version"),
        ("app", "v1/../..", "Web", None, "is not an API version"),
        ("app", "v1", "web", None, "'web' is not a kind"),
        ("app", "v1", "Web-App", None, "is not a kind"),
        ("app", "v1", "../Web", None, "is not a kind"),
        ("app", "v1", "Spec", None, "Annotated, Spec, Status are names of other classes"),
        ("app", "v1", "W" * 60, None, "at most 59 characters"),
        ("app", "v1", "Web", "Webs", "'Webs' is not a plural"),
        ("app", "v1", "Existing", None, "the kind already exists: app.example.com/v1 Existing"),
    ],
)
def test_an_invalid_kind_is_not_created(
    tmp_path: Path, group: str, version: str, kind: str, plural: str | None, problem: str
) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Existing")
    before = files_in(tmp_path)

    with pytest.raises(SteersmanError, match=re.escape(problem)):
        create_api(project, group=group, version=version, kind=kind, plural=plural)

    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("controllers=[]", "controllers=found()", "Add `from shop_operator import web` where the"),
        ("manager =", "manager = (", "operator.py is not valid Python, in line "),
    ],
)
def test_the_error_for_an_unparsable_operator_says_what_to_add(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    project = new_project(tmp_path)
    edit(project, OPERATOR, old, new)
    before = files_in(tmp_path)

    with pytest.raises(ProjectError, match=re.escape(problem)):
        create_api(project, group="app", version="v1", kind="Web")

    assert files_in(tmp_path) == before


def test_a_controller_that_was_added_by_hand_is_kept(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    edit(project, OPERATOR, "controllers=[]", "controllers=(web.controller,)")
    before = (project.directory / OPERATOR).read_text()

    made = create_api(project, group="app", version="v1", kind="Web")

    assert made.changed == ()
    assert (project.directory / OPERATOR).read_text() == before


def test_an_operator_in_another_module_is_found_by_the_target(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    moved = project.directory / "src/shop_operator/app/__init__.py"
    moved.parent.mkdir()
    (project.directory / OPERATOR).rename(moved)
    edit(project, "pyproject.toml", "shop_operator.operator:", "shop_operator.app:")

    made = create_api(Project.find(project.directory), group="app", version="v1", kind="Web")

    assert made.changed == ("src/shop_operator/app/__init__.py",)
    assert "web.controller" in moved.read_text()


def test_a_missing_operator_is_reported(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    (project.directory / OPERATOR).unlink()

    with pytest.raises(ProjectError, match=r"operator\.py, which target in pyproject\.toml names"):
        create_api(project, group="app", version="v1", kind="Web")


@pytest.mark.parametrize(
    ("group", "kind", "said"),
    [
        ("apps", "Deployment", "apps_v1.Deployment,\n"),
        ("core", "ConfigMap", "core_v1.ConfigMap,\n"),
        ("", "Node", "core_v1.Node,\n"),
        (
            "cert-manager.io",
            "Issuer",
            'Issuer = sm.Unstructured.of("cert-manager.io/v1", "Issuer",',
        ),
    ],
)
def test_a_controller_of_an_external_kind_uses_its_class(
    tmp_path: Path, group: str, kind: str, said: str
) -> None:
    project = new_project(tmp_path)

    made = create_controller(project, group=group, version="v1", kind=kind)

    assert said in (project.directory / made.written[0]).read_text()
    assert f"{kind.lower()}.controller" in (project.directory / OPERATOR).read_text()


def test_a_controller_may_use_a_class_that_exists(tmp_path: Path) -> None:
    project = new_project(tmp_path)

    made = create_controller(
        project,
        group="acme.io",
        version="v1",
        kind="Anvil",
        models="shop_operator.models.anvil_v1",
    )

    module = (project.directory / made.written[0]).read_text()
    assert "from shop_operator.models.anvil_v1 import Anvil\n" in module


@pytest.mark.parametrize(
    ("group", "version", "kind", "models", "problem"),
    [
        ("apps", "v1", "deployment", None, "'deployment' is not a kind"),
        ("apps", "v2", "Deployment", None, "There is apps/v1 Deployment."),
        ("apps", "1", "Deployment", None, "'1' is not an API version"),
        ("unknown", "v1", "Thing", None, "unknown/v1 Thing is not a built-in kind"),
        ("authentication.k8s.io", "v1", "TokenReview", None, "cannot be watched"),
        (
            "acme.io",
            "v1",
            "Anvil",
            "shop/models.py",
            "'shop/models.py' is not the name of a Python module",
        ),
        (
            "acme.io",
            "v1",
            "Labels",
            None,
            "Anything, Cluster, Labels, MergePatch, Scenario, StandIn are names of other classes",
        ),
        ("a_b.io", "v1", "Anvil", None, "'a_b.io' is not an API group"),
    ],
)
def test_a_controller_of_a_kind_without_watch_is_not_created(
    tmp_path: Path, group: str, version: str, kind: str, models: str | None, problem: str
) -> None:
    project = new_project(tmp_path)
    before = files_in(tmp_path)

    with pytest.raises(SteersmanError, match=re.escape(problem)):
        create_controller(project, group=group, version=version, kind=kind, models=models)

    assert files_in(tmp_path) == before


def test_an_existing_kind_is_not_created_again_in_any_spelling(
    tmp_path: Path,
) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")
    edit(project, "src/shop_operator/web.py", 'group="app.example.com"', "group=GROUP")
    (project.directory / "src/shop_operator/web.py").rename(
        project.directory / "src/shop_operator/sites.py"
    )
    has = DeclaredKind(
        path="src/shop_operator/sites.py",
        class_name="Web",
        group="app.example.com",
        version="v1",
        kind="Web",
    )

    with pytest.raises(ProjectError, match=r"already exists: app\.example\.com/v1 Web in .*sites"):
        create_api(project, group="app", version="v1", kind="Web", operator_kinds=[has])
    made = create_api(project, group="app", version="v2", kind="Web", operator_kinds=[has])

    assert "src/shop_operator/sites_v2.py" in made.written
    assert made.changed == ("src/shop_operator/sites.py",)


@pytest.mark.parametrize("group", ["app", "app.example.com"])
def test_an_existing_controller_of_the_project_is_reported(tmp_path: Path, group: str) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")

    with pytest.raises(ProjectError) as caught:
        create_controller(project, group=group, version="v1", kind="Web")

    assert str(caught.value) == (
        "Web is a kind of this project and already has a controller: app.example.com/v1 Web in"
        " src/shop_operator/web.py. Change its `reconcile` function. `create controller` is for"
        " kinds that another project defines."
    )


def test_a_controller_of_a_kind_with_generated_models_is_created(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    models = project.directory / "src/shop_operator/models"
    models.mkdir()
    (models / "certificate_v1.py").write_text(
        "from steersman.kinds import Resource\n\n\n"
        'class Certificate(Resource, group="cert-manager.io", version="v1", crd=None):\n'
        '    """As `steersman generate models` writes it."""\n'
    )

    made = create_controller(
        project,
        group="cert-manager.io",
        version="v1",
        kind="Certificate",
        models="shop_operator.models.certificate_v1",
    )

    assert "src/shop_operator/certificate.py" in made.written


def test_a_module_without_a_kind_is_not_used_as_one(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    helper = project.directory / "src/shop_operator/database.py"
    helper.write_text("def connect() -> None: ...\n")

    made = create_api(project, group="app", version="v1", kind="Database")

    assert helper.read_text() == "def connect() -> None: ...\n"
    assert made.written == (
        "src/shop_operator/database_app.py",
        "tests/test_database_app.py",
        "samples/database_app.yaml",
    )
    assert "database_app.controller" in (project.directory / OPERATOR).read_text()


def test_a_module_with_a_class_of_that_name_is_found(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    (project.directory / "src/shop_operator/web.py").write_text("class Web(Base): ...\n")

    with pytest.raises(ProjectError, match=r"src/shop_operator/web\.py already exists"):
        create_api(project, group="app", version="v1", kind="Web")
