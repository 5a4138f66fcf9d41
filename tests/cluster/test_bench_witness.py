"""The witness of the benchmarks: what it says of the last change is what a rate is made of."""

from itertools import count

from bench.harness.witness import watching_changes
from steersman.clock import SystemClock
from steersman_cluster.testing import running_embedded_control_plane

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_a_witness_continues_after_the_server_ends_its_watch() -> None:
    clock = SystemClock()
    with (
        running_embedded_control_plane(clock=clock) as cluster,
        watching_changes(cluster.kubeconfig, CONFIG_MAPS, watch_seconds=1) as witness,
        cluster.caller() as api,
    ):
        # By then its first watch has ended; a deaf one has us wait until the test's time is over.
        later_at = clock.monotonic() + 1.5
        changes = ({"metadata": {"name": f"number-{number}"}} for number in count())
        while witness.last_at < later_at:
            assert api.call("POST", CONFIG_MAPS, next(changes)).status == 201

    assert witness.last_at > later_at
