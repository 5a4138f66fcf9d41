"""The watcher of the benchmarks, which reports the time of the last change."""

from itertools import count

from bench.harness.change_watcher import watching_changes
from steersman.clock import SystemClock
from steersman_cluster.testing import running_embedded_control_plane

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_the_watcher_resumes_after_the_server_closes_its_watch() -> None:
    clock = SystemClock()
    with (
        running_embedded_control_plane(clock=clock) as cluster,
        watching_changes(cluster.kubeconfig, CONFIG_MAPS, watch_seconds=1) as witness,
        cluster.caller() as api,
    ):
        # The first watch has ended. Without a new one, the test would time out.
        later_at = clock.monotonic() + 1.5
        changes = ({"metadata": {"name": f"number-{number}"}} for number in count())
        while witness.last_change_at < later_at:
            assert api.call("POST", CONFIG_MAPS, next(changes)).status == 201

    assert witness.last_change_at > later_at
