"""The tests of a generated project pass on a real control plane."""

import subprocess
import sys
from pathlib import Path

from steersman.scaffold import Project, create_api, create_controller, init_project


def test_a_new_project_works_without_changes_on_a_real_control_plane(tmp_path: Path) -> None:
    init_project(tmp_path / "shop-operator", domain="example.com")
    project = Project.find(tmp_path / "shop-operator")
    create_api(project, group="app", version="v1", kind="AppService")
    create_api(project, group="app", version="v1beta1", kind="AppService")
    create_api(project, group="app", version="v1", kind="Tenant", namespaced=False)
    create_controller(project, group="core", version="v1", kind="Namespace")
    create_controller(project, group="acme.io", version="v1", kind="Anvil")

    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--cluster=real"],
        cwd=project.directory,
        check=False,
        capture_output=True,
        text=True,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr
