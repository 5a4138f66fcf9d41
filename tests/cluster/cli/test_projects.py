"""A project from the command line: created, extended, generated, and with errors."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.programs import OPERATOR, steersman

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one kind and all generated files."""
    home = tmp_path_factory.mktemp("home")
    done = steersman("init", "shop", "--domain=example.com", directory=home)
    assert done.returncode == 0, done.stderr
    for command in (
        ("create", "api", "--group=app", "--version=v1", "--kind=AppService"),
        ("generate",),
    ):
        done = steersman(*command, directory=home / "shop")
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
    return home / "shop"


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    (tmp_path / "operator.py").write_text(OPERATOR, encoding="utf-8")
    return tmp_path


def test_generated_files_are_up_to_date_until_the_types_change(made: Path) -> None:
    types = made / "src/shop/appservice.py"
    before = types.read_text(encoding="utf-8")

    fresh = steersman("generate", "--check", directory=made)
    types.write_text(before.replace("image: str", "picture: str", 1), encoding="utf-8")
    stale = steersman("generate", "crd", "--check", directory=made)
    types.write_text(before, encoding="utf-8")

    assert (fresh.returncode, fresh.stderr) == (0, "all generated files are up to date\n")
    assert stale.returncode == 1
    assert stale.stderr.startswith("steersman: deploy/crd/appservices.app.example.com.yaml is out")
    assert stale.stderr.endswith(
        "Run `steersman generate`, and commit the files.\nsee: steersman explain OutOfDate\n"
    )


def test_a_generated_file_that_was_edited_is_kept_and_shown_as_a_diff(made: Path) -> None:
    path = made / "deploy/install.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}# mine\n", encoding="utf-8")

    refused = steersman("generate", directory=made)
    kept = path.read_text(encoding="utf-8")
    forced = steersman("generate", "--force", "-o", "json", directory=made)

    assert refused.returncode == 1
    assert "+# mine\n" in refused.stderr
    assert "steersman: deploy/install.yaml was edited by hand" in refused.stderr
    assert kept.endswith("# mine\n")
    assert json.loads(forced.stdout)["written"] == ["deploy/install.yaml"]
    assert path.read_text(encoding="utf-8") == before


def test_objects_are_printed_as_yaml_or_json(operator: Path) -> None:
    as_yaml = steersman("generate", "crd", "operator.py", directory=operator)
    as_json = steersman("generate", "crd", "operator.py", "-o", "json", directory=operator)
    several = steersman("generate", "rbac", "operator.py", "-o", "json", directory=operator)

    (document,) = yaml.safe_load_all(as_yaml.stdout)
    assert document == json.loads(as_json.stdout)
    assert document["metadata"]["name"] == "settings.app.example.com"
    assert json.loads(several.stdout)["kind"] == "List"
    assert (as_yaml.stderr, as_json.stderr, several.stderr) == ("", "", "")


def test_a_breaking_schema_change_is_reported(operator: Path) -> None:
    path = operator / "operator.py"
    old = steersman("generate", "crd", "operator.py", directory=operator).stdout
    (operator / "old.yaml").write_text(old, encoding="utf-8")
    same = steersman("generate", "crd", "operator.py", "--against=old.yaml", directory=operator)

    path.write_text(OPERATOR.replace("size: int = 1", "size: str"), encoding="utf-8")
    broken = steersman("generate", "crd", "operator.py", "--against=old.yaml", directory=operator)

    assert (same.returncode, same.stdout) == (0, "")
    assert same.stderr == "no breaking changes since old.yaml\n"
    assert broken.returncode == 1
    assert "spec.size" in broken.stdout
    assert all(line.startswith("settings.app.example.com: ") for line in broken.stdout.splitlines())
    assert "breaking changes since old.yaml" in broken.stderr


def test_a_removed_kind_is_a_breaking_change(operator: Path) -> None:
    path = operator / "operator.py"
    old = steersman("generate", "crd", "operator.py", directory=operator).stdout
    (operator / "old.yaml").write_text(old, encoding="utf-8")

    path.write_text(
        OPERATOR.replace("class Setting", "class Option").replace("Setting", "Option"),
        encoding="utf-8",
    )
    broken = steersman("generate", "crd", "operator.py", "--against=old.yaml", directory=operator)

    assert broken.stdout == "settings.app.example.com: the kind was removed\n"


def test_an_invalid_schema_is_reported_with_its_field_and_nothing_is_written(
    operator: Path,
) -> None:
    path = operator / "operator.py"
    path.write_text(OPERATOR.replace("size: int = 1", "size: complex = 1j"), encoding="utf-8")

    refused = steersman("generate", "crd", "operator.py", directory=operator)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "spec.size" in refused.stderr
    assert refused.stderr.endswith("\nsee: steersman explain CannotBeACrd\n")
    assert refused.stderr.count("\n") == 2


def test_models_are_generated_from_a_definition(operator: Path) -> None:
    definition = steersman("generate", "crd", "operator.py", directory=operator).stdout
    (operator / "crd.yaml").write_text(definition, encoding="utf-8")

    printed = steersman("generate", "models", "crd.yaml", directory=operator)
    written = steersman("generate", "models", "crd.yaml", "--into=models", directory=operator)

    assert "class Setting(" in printed.stdout
    assert [each.read_text(encoding="utf-8") for each in (operator / "models").glob("*.py")] == [
        printed.stdout
    ]
    assert written.stdout == ""


REFUSED: dict[str, tuple[tuple[str, ...], int, str]] = {
    "a directory with files": (
        ("init", "full", "--domain=example.com"),
        1,
        "full",
    ),
    "a domain that is none": (("init", "new", "--domain=-"), 2, "is not"),
    "no project": (
        ("create", "api", "--group=app", "--version=v1", "--kind=App"),
        1,
        "steersman init DIR --domain example.com",
    ),
    "nothing to generate": (("generate",), 1, "steersman init DIR --domain example.com"),
    "a target that is not there": (("generate", "crd", "nowhere.py"), 1, "does not exist"),
    "a chart for nowhere": (("generate", "chart", "operator.py"), 2, "--into"),
    "no definition": (("generate", "models"), 2, "name a FILE with definitions"),
    "a shell that is none": (("completion", "csh"), 2, "'csh' is not one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_rejected_command_leaves_no_partly_written_files(case: str, operator: Path) -> None:
    arguments, status, words = REFUSED[case]
    (operator / "full").mkdir()
    (operator / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    before = files(operator)

    refused = steersman(*arguments, directory=operator)

    assert (refused.returncode, refused.stdout) == (status, "")
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr
    assert files(operator) == before


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        (("--group=app", "--version=v1", "--kind=appService"), 2),
        (("--group=APP", "--version=v1", "--kind=App"), 2),
        (("--group=app", "--version=1", "--kind=App"), 2),
        (("--group=app", "--version=v1"), 2),
    ],
)
def test_a_name_that_kubernetes_rejects_is_a_usage_error(
    made: Path, wrong: tuple[str, ...], status: int
) -> None:
    before = files(made)

    refused = steersman("create", "api", *wrong, directory=made)

    assert (refused.returncode, refused.stdout) == (status, "")
    assert files(made) == before


def files(directory: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_output_of_an_imported_operator_is_not_part_of_the_manifests(
    operator: Path,
) -> None:
    (operator / "operator.py").write_text(f'{OPERATOR}\nprint("hello: {{")\n', encoding="utf-8")

    printed = steersman("generate", "crd", "operator.py", directory=operator)

    assert yaml.safe_load(printed.stdout)["metadata"]["name"] == "settings.app.example.com"
    assert printed.stderr == "hello: {\n"


def test_an_upgrade_to_the_same_version_reports_it(made: Path) -> None:
    done = steersman("upgrade", directory=made)

    assert done.returncode == 0
    assert done.stderr.startswith("up to date with steersman ")


def test_a_new_project_without_generated_files_is_up_to_date(tmp_path: Path) -> None:
    steersman("init", "shop", "--domain=example.com", directory=tmp_path)
    empty = steersman("generate", "--check", directory=tmp_path / "shop")
    kind = ("--group=app", "--version=v1", "--kind=Web")
    steersman("create", "api", *kind, directory=tmp_path / "shop")

    fresh = steersman("generate", "--check", directory=tmp_path / "shop")

    said = "there are no generated files yet: steersman generate writes deploy/ and docs/\n"
    assert (empty.returncode, empty.stderr) == (0, said)
    assert (fresh.returncode, fresh.stderr) == (0, said)


def test_create_gets_the_kinds_from_the_operator(tmp_path: Path) -> None:
    steersman("init", "shop", "--domain=example.com", directory=tmp_path)
    project = tmp_path / "shop"
    kind = ("--group=app", "--version=v1", "--kind=Web")
    steersman("create", "api", *kind, directory=project)
    module = project / "src/shop/web.py"
    text = module.read_text(encoding="utf-8")
    # Static analysis cannot find the kind: group and file are variables.
    text = text.replace('group="app.example.com"', "group=GROUP")
    text = text.replace("class Spec", 'GROUP = "app.example.com"\n\n\nclass Spec')
    module.unlink()
    (project / "src/shop/sites.py").write_text(text, encoding="utf-8")
    operator = project / "src/shop/operator.py"
    operator.write_text(operator.read_text().replace("web", "sites"), encoding="utf-8")
    for left in ("tests/test_web.py", "samples/web.yaml"):
        (project / left).unlink()
    before = files(project)

    again = steersman("create", "api", *kind, directory=project)
    controller = steersman("create", "controller", *kind, directory=project)

    assert (again.returncode, controller.returncode) == (1, 1)
    assert "the kind already exists: app.example.com/v1 Web in src/shop/sites.py" in again.stderr
    assert "Web is a kind of this project and already has a controller" in controller.stderr
    assert files(project) == before


def test_create_reads_the_source_of_an_operator_that_does_not_load(tmp_path: Path) -> None:
    steersman("init", "shop", "--domain=example.com", directory=tmp_path)
    project = tmp_path / "shop"
    kind = ("--group=app", "--version=v1", "--kind=Web")
    steersman("create", "api", *kind, directory=project)
    operator = project / "src/shop/operator.py"
    text = operator.read_text(encoding="utf-8")
    operator.write_text(f"{text}\nimport not_installed_yet\n", encoding="utf-8")

    again = steersman("create", "api", *kind, directory=project)
    other = steersman("create", "api", *kind[:2], "--kind=Other", directory=project)

    assert "the kind already exists" in again.stderr
    assert other.returncode == 0
    assert (
        "note: the operator cannot be loaded, so its kinds are read from its source: "
        in other.stderr
    )
    assert "not_installed_yet" in other.stderr


def test_deploy_settings_of_the_project_are_in_the_manifests(tmp_path: Path) -> None:
    steersman("init", "shop", "--domain=example.com", directory=tmp_path)
    project = tmp_path / "shop"
    steersman("create", "api", "--group=app", "--version=v1", "--kind=Web", directory=project)
    digest = f"sha256:{'ab' * 32}"
    text = (project / "pyproject.toml").read_text(encoding="utf-8")
    text += f"""
[tool.steersman.deploy]
replicas = 3
digest = "{digest}"
env = {{ DATABASE_URL = "postgres://db/shop" }}

[tool.steersman.bundle]
channel = "fast"
"""
    (project / "pyproject.toml").write_text(text, encoding="utf-8")

    done = steersman("generate", directory=project)
    wrong = text.replace("replicas = 3", "replicas = 0")
    (project / "pyproject.toml").write_text(wrong, encoding="utf-8")
    refused = steersman("generate", directory=project)

    warning = "warning: DATABASE_URL is postgres://db, but the NetworkPolicy blocks connections to"
    assert done.returncode == 0
    assert warning in done.stderr
    deployment = yaml.safe_load((project / "deploy/operator/deployment.yaml").read_text())
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["replicas"] == 3
    assert container["image"] == f"shop:0.1.0@{digest}"
    assert {"name": "DATABASE_URL", "value": "postgres://db/shop"} in container["env"]
    assert 'channels.v1="fast"' in (project / "deploy/bundle/bundle.Dockerfile").read_text()
    assert refused.returncode == 1
    assert "tool.steersman.deploy.replicas in " in refused.stderr
