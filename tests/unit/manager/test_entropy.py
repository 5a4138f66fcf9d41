"""The source of randomness of an operator in production."""

from collections.abc import Awaitable
from pathlib import Path
from random import SystemRandom

from steersman.manager import Manager, ManagerEnvironment, ManagerSettings

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: one, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: one, user: {token: secret}}]
contexts: [{name: one, context: {cluster: one, user: one}}]
current-context: one
"""


class RecordingManager(Manager):
    """Records the environment instead of running in it."""

    environment: ManagerEnvironment | None = None

    async def operate(
        self,
        environment: ManagerEnvironment,
        *,
        settings: ManagerSettings,
        stop: Awaitable[str],
    ) -> None:
        self.environment = environment


def test_secrets_of_an_operator_in_production_are_the_operating_systems(
    tmp_path: Path,
) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(KUBECONFIG)
    kubeconfig.chmod(0o600)
    manager = RecordingManager(settings=ManagerSettings(kubeconfig=kubeconfig, metrics_address=""))

    manager.run()

    assert manager.environment is not None
    assert isinstance(manager.environment.rng, SystemRandom)
