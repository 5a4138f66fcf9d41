"""A new project passes its tests, linters and type checkers."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from steersman.scaffold import Origin, Project, create_api, create_controller, init_project
from steersman.scaffold.foreign import foreign_kind

# Each type of kind, with names so long that lines have to break.
LONG = "Long" * 14
MIDDLE = "Middle" * 7

# Each in its group, with an object that tests can create.
BUILT_IN = [
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("coordination.k8s.io", "Lease"),
    ("core", "ConfigMap"),
    ("core", "Endpoints"),
    ("core", "LimitRange"),
    ("core", "Namespace"),
    ("core", "Node"),
    ("core", "PersistentVolumeClaim"),
    ("core", "Pod"),
    ("core", "ResourceQuota"),
    ("core", "Secret"),
    ("core", "Service"),
    ("core", "ServiceAccount"),
    ("networking.k8s.io", "Ingress"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "Role"),
    ("scheduling.k8s.io", "PriorityClass"),
]


# The output of `steersman generate models`.
MODELS = '''"""Certificate, of certs.example.org/v1, and its parts."""

from __future__ import annotations

from steersman.kinds import Part, Resource


class CertificateSpec(Part):
    secret_name: str | None = None


class Certificate(Resource, group="certs.example.org", version="v1", crd=None):
    """Certificate, of certs.example.org/v1."""

    spec: CertificateSpec | None = None
'''


def new_project(directory: Path) -> Project:
    init_project(directory / "shop-operator", domain="example.com")
    return Project.find(directory / "shop-operator")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with each type of kind."""
    project = new_project(tmp_path_factory.mktemp("made"))
    create_api(project, group="app", version="v1", kind="AppService")
    create_api(project, group="app", version="v1beta1", kind="AppService")
    create_api(project, group="app", version="v2", kind="AppService")
    create_api(project, group="shop", version="v1", kind="AppService")
    create_api(project, group="app", version="v1", kind="Tenant", namespaced=False)
    # Its tests use the name for another object.
    create_api(project, group="app", version="v1", kind="Cluster")
    create_controller(project, group="apps", version="v1", kind="Deployment")
    create_controller(project, group="acme.io", version="v1", kind="Anvil")
    create_controller(project, group="acme.io", version="v1", kind="Smith", namespaced=False)
    # No valid object is known: its tests are skipped until the author adds one.
    create_controller(project, group="storage.k8s.io", version="v1", kind="StorageClass")
    models = project.source / project.package / "models"
    models.mkdir()
    (models / "__init__.py").touch()
    (models / "certificate_v1.py").write_text(MODELS)
    create_controller(
        project,
        group="certs.example.org",
        version="v1",
        kind="Certificate",
        models=f"{project.package}.models.certificate_v1",
    )
    return project


@pytest.fixture(scope="module")
def long_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which lines have to break."""
    project = new_project(tmp_path_factory.mktemp("long"))
    for kind in (LONG, MIDDLE):
        create_api(project, group="app", version="v1", kind=kind)
        create_api(project, group="app", version="v2", kind=kind)
        create_api(project, group="app", version="v1alpha1", kind=kind)
        create_api(project, group="app", version="v1", kind=f"{kind[1:].title()}", namespaced=False)
        create_controller(project, group="acme.io", version="v1", kind=f"X{kind[1:]}")
    for group, kind in BUILT_IN:
        create_controller(project, group=group, version="v1", kind=kind)
    return project


def ran(project: Project, *command: str, **environ: str) -> tuple[int, str]:
    """The exit status and the output."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("BUILDER", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON", "VIRTUAL_ENV")
    }
    finished = subprocess.run(
        command,
        cwd=project.directory,
        env={**inherited, "PYTHONDONTWRITEBYTECODE": "1", **environ},
        check=False,
        capture_output=True,
        text=True,
    )
    return finished.returncode, finished.stdout + finished.stderr


def python(project: Project, *arguments: str) -> str:
    status, said = ran(project, sys.executable, *arguments, PYTHONPATH="src")
    assert status == 0, said
    return said


@pytest.mark.programs
def test_a_new_project_works_without_changes(project: Project) -> None:
    status, said = ran(project, "make", "test", f"PYTHON={sys.executable}")

    assert status == 0, said
    assert " passed, 8 skipped in " in said


@pytest.mark.programs
def test_a_project_without_kinds_works(tmp_path: Path) -> None:
    said = python(new_project(tmp_path), "-m", "pytest")

    assert "1 passed in " in said


@pytest.mark.programs
def test_the_generated_controller_tests_pass_for_every_supported_kind(
    long_project: Project,
) -> None:
    said = python(long_project, "-m", "pytest", "-q", "-k", "asks or does_not_ask or two")

    assert "skipped" not in said
    assert said.count("\n") < 20, said


def test_every_listed_kind_has_an_example() -> None:
    for group, kind in BUILT_IN:
        found = foreign_kind(
            group=group, version="v1", kind=kind, plural=None, namespaced=True, models=None
        )

        assert found.example is not None, kind


@pytest.mark.needs_tools
@pytest.mark.parametrize("which", ["project", "long_project"])
def test_generated_code_passes_the_formatter_and_the_linter(
    which: str, request: pytest.FixtureRequest
) -> None:
    made: Project = request.getfixturevalue(which)

    python(made, "-m", "ruff", "format", "--no-cache", "--check", "--diff", "src", "tests")
    python(made, "-m", "ruff", "check", "--no-cache", "src", "tests")


@pytest.mark.needs_tools
def test_make_check_passes_after_make_generate(project: Project) -> None:
    for target in ("generate", "check"):
        status, said = ran(project, "make", target, f"PYTHON={sys.executable}")

        assert status == 0, said


@pytest.mark.needs_tools
def test_generated_code_passes_pyright(project: Project) -> None:
    python(project, "-m", "pyright", "--pythonpath", sys.executable)


def test_the_manager_is_loaded_from_the_configured_module(project: Project) -> None:
    module, _, attribute = project.target.partition(":")

    said = python(project, "-c", f"import {module} as it; print(repr(it.{attribute}))")

    assert said.startswith("<Manager of appservice, ")


def test_a_given_python_is_used_unchanged_and_an_active_one_gets_missing_packages(
    project: Project,
) -> None:
    _, named = ran(project, "make", "-n", "test", "PYTHON=my-python")
    _, active = ran(project, "make", "-n", "test", VIRTUAL_ENV="my-venv")
    _, neither = ran(project, "make", "-n", "test")

    assert named == "my-python -m pytest\n"
    assert active.endswith("my-venv/bin/python -m pytest\n")
    assert "my-venv/bin/python -c 'import mypy, pytest, pytest_asyncio, ruff, steersman'" in active
    assert "python3 -m venv .venv\n" in neither
    assert ".venv/bin/python -m pip install --quiet --group dev --editable .\n" in neither


@pytest.mark.parametrize("editable", [True, False])
def test_a_steersman_installed_from_source_is_not_replaced(tmp_path: Path, editable: bool) -> None:
    wheel = "steersman-0.1.0-py3-none-any.whl"
    origin = Origin(source="file:///clone", wheels={wheel: b""})
    init_project(tmp_path / "shop", domain="example.com", origin=lambda: origin)
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    info = site / "steersman-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: steersman\nVersion: 0.1.0\n")
    dir_info = {"editable": True} if editable else {}
    (info / "direct_url.json").write_text(json.dumps({"url": "file:///c", "dir_info": dir_info}))
    # Prints its arguments, and does nothing else.
    (site / "pip.py").write_text("import sys\nprint('pip', *sys.argv[1:])\n")

    status, said = ran(
        Project.find(tmp_path / "shop"),
        *("make", "-s", "install"),
        VIRTUAL_ENV=str(tmp_path / "venv"),
    )

    assert status == 0, said
    assert "pip install --quiet --group dev --editable .\n" in said
    assert (f"pip install --quiet vendor/{wheel}\n" in said) is not editable


def test_make_lists_its_targets(project: Project) -> None:
    _, said = ran(project, "make")

    assert [line.split()[1] for line in said.splitlines()] == [
        *("help", "install", "test", "test-real", "check", "run", "dev", "generate"),
        *("image", "push", "deploy", "undeploy"),
    ]


@pytest.mark.parametrize("builder", ["docker", "podman", "buildah", "nerdctl"])
def test_an_image_is_built_with_the_available_builder(
    tmp_path: Path, project: Project, builder: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "make", "sed"):
        (tools / name).symlink_to(
            f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}"
        )
    program = tools / builder
    program.write_text('#!/bin/sh\necho "$0 $*"\n')
    program.chmod(0o755)

    status, said = ran(project, "make", "-s", "image", PATH=str(tools), PIP_INDEX_URL="somewhere")
    pushed = ran(project, "make", "-s", "push", PATH=str(tools))

    assert status == 0
    expected = f"{program} build --tag shop-operator:0.1.0 --build-arg PIP_INDEX_URL .\n"
    assert said == expected
    assert pushed == (0, f"{program} push shop-operator:0.1.0\n")


def test_without_a_builder_the_error_says_what_to_install(project: Project) -> None:
    status, said = ran(project, "make", "image", "BUILDER=")

    assert status == 2
    assert "docker, podman, buildah and nerdctl are missing. Install one of them" in said


def test_the_image_runs_the_operator_as_a_non_root_user(project: Project) -> None:
    lines = (project.directory / "Dockerfile").read_text().splitlines()

    user = next(line for line in lines if line.startswith("USER "))
    assert user == "USER 65532:65532"
    assert 'ENTRYPOINT ["/operator/bin/python", "-m", "shop_operator"]' in lines
    assert [line.split()[1] for line in lines if line.startswith("FROM ")] == [
        "python:3.13-slim"
    ] * 2
