"""The AppService example, tested in the test's own process: ``pytest examples/test_appservice.py``.

No cluster, no socket, no waiting. The same test runs against a real control plane with a client
that is connected to one.
"""

from random import Random

from examples.appservice import AppService, Spec, definition, reconcile
from steersman.apiserver import ApiServer, InProcessTransport, RevisionLog
from steersman.client import Client
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, meta_v1
from steersman.observe import ignore


async def test_an_app_service_gets_a_deployment_of_its_size() -> None:
    clock, rng = SystemClock(), Random(0)
    server = ApiServer(log=RevisionLog(), tokens={}, clock=clock, rng=rng, observe=ignore)
    client = Client(InProcessTransport(server), clock=clock, rng=rng, observe=ignore)
    await client.create(definition())
    metadata = meta_v1.ObjectMeta(name="web", namespace="default")
    app = await client.create(AppService(metadata=metadata, spec=Spec(image="nginx", size=3)))

    await reconcile(app, client)

    deployment = await client.get(apps_v1.Deployment, "web", namespace="default")
    assert deployment.spec is not None
    assert deployment.spec.replicas == 3
