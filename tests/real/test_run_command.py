"""``steersman run`` and ``generate models`` with a cluster."""

from pathlib import Path

import pytest

from steersman_cluster.testing import RealControlPlane
from tests.cluster.programs import OPERATOR, SAMPLE, running, steersman

# A unique group, because definitions are cluster-scoped.
GROUP = "run-command.example.com"


@pytest.fixture
def home(tmp_path: Path, control_plane: RealControlPlane) -> Path:
    """A directory with an operator whose kind the cluster does not serve."""
    text = OPERATOR.replace("app.example.com", GROUP)
    (tmp_path / "operator.py").write_text(text, encoding="utf-8")
    name = f"settings.{GROUP}"
    control_plane.kubectl("delete", "crd", name, "--ignore-not-found", "--wait=true")
    return tmp_path


def arguments(control_plane: RealControlPlane, namespace: str) -> tuple[str, ...]:
    return (
        "run",
        "operator.py",
        f"--kubeconfig={control_plane.kubeconfig}",
        f"--namespaces={namespace}",
        f"--lease-namespace={namespace}",
        "--health-address=",
        "--metrics-address=",
    )


def test_steersman_run_applies_the_operators_crds(
    home: Path, control_plane: RealControlPlane, namespace: str
) -> None:
    options = arguments(control_plane, namespace)
    before = steersman(*options, directory=home)

    with running(*options, "--install-crds", directory=home) as started:
        started.until("running, after")
        control_plane.kubectl(
            "apply", "-n", namespace, "-f-", stdin=SAMPLE.replace("app.example.com", GROUP)
        )
        started.until(f"Setting {namespace}/one done in .*applied ConfigMap {namespace}/one")
        started.end()
    size = control_plane.kubectl("get", "-n", namespace, "cm/one", "-o", "jsonpath={.data.size}")

    assert before.returncode == 1
    assert f"the API server does not serve {GROUP}/v1 Setting. Run it with" in before.stderr
    assert started.process.returncode == 0
    assert size == "3"


def test_models_are_generated_from_the_clusters_definitions(
    home: Path, control_plane: RealControlPlane, namespace: str
) -> None:
    printed = steersman("generate", "crd", "operator.py", directory=home).stdout
    control_plane.kubectl("apply", "-f-", stdin=printed)

    generated = steersman(
        "generate",
        "models",
        f"--from-cluster=settings.{GROUP}",
        f"--kubeconfig={control_plane.kubeconfig}",
        directory=home,
    )

    assert generated.returncode == 0, generated.stderr
    assert "class Setting(" in generated.stdout
