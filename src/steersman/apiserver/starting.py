"""What is there before anybody asked for it: namespaces, roles, the server's own service."""

from pathlib import Path

import msgspec

from steersman.apiserver import metadata
from steersman.apiserver.builtin.bootstrap import bootstrap_objects
from steersman.apiserver.rules import Object
from steersman.apiserver.served import Registry
from steersman.apiserver.storage import Key
from steersman.apiserver.store import Store
from steersman.names import GroupVersionKind
from steersman.units import format_time

POLICY = Path(__file__).parent / "access" / "policy-1.36.json"


def fill(store: Store, registry: Registry, *, address: str, port: int, client_ca: str) -> None:
    """Put in place what is missing; what somebody has changed stays as it is."""
    now = store.clock.now()
    policy: list[Object] = msgspec.json.decode(POLICY.read_bytes())
    objects = bootstrap_objects(address=address, port=port, client_ca=client_ca, now=now)
    by_kind = {each.gvk: each for each in registry}
    for obj in (*objects, *policy):
        served = by_kind[GroupVersionKind.of(obj["apiVersion"], obj["kind"])]
        about = obj["metadata"]
        key = Key(served.stored_as, served.place(about.get("namespace", ""), about["name"]))
        if store.view.get(key) is None:
            metadata.prepare_create(about, rng=store.rng, time=format_time(now))
            store.write(key, obj, rules=served.rules, replacing=None)
