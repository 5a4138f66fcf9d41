"""Creates a namespace for one test, and deletes it with all its objects.

Without kube-controller-manager, a control plane does not delete the objects in a deleted namespace,
and these objects would appear in the next test that lists all namespaces. Therefore, this module
does the work of the namespace controller. It works even while the namespace controller runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from steersman_cluster.testing.control_plane.control_plane import ControlPlane

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MERGE_PATCH = "application/merge-patch+json"
NO_FINALIZERS = {"metadata": {"finalizers": None}}


@contextmanager
def fresh_namespace(plane: ControlPlane) -> Iterator[str]:
    """Create a namespace and yield its name; after the block, delete it with all its objects."""
    with plane.caller() as api:
        body = {"metadata": {"generateName": "test-"}}
        created = _expect(api.call("POST", "/api/v1/namespaces", body), "create a namespace", 201)
    name: str = created.json()["metadata"]["name"]
    try:
        yield name
    finally:
        with plane.caller() as api:
            _remove(api, name)


def _remove(api: HttpCaller, name: str) -> None:
    wanted = f"delete Namespace {name}"
    # First, so that no object can be created in it any more.
    _expect(api.call("DELETE", f"/api/v1/namespaces/{name}"), wanted, 200, 404, 409)
    for collection in _collections(api, name):
        # Immediately, instead of after a Pod's grace period of thirty seconds.
        path = f"{collection}?gracePeriodSeconds=0&propagationPolicy=Background"
        step = f"{wanted}: empty {collection}"
        emptied = _expect(api.call("DELETE", path), step, 200, 404, 405)
        for held in _held_back(emptied):
            # The operator that would remove the finalizers has ended with the test.
            let_go = api.call("PATCH", f"{collection}/{held}", NO_FINALIZERS, sends=MERGE_PATCH)
            _expect(let_go, step, 200, 404)
    unblocked = {"metadata": {"name": name}, "spec": {"finalizers": []}}
    finalize = f"/api/v1/namespaces/{name}/finalize"
    _expect(api.call("PUT", finalize, unblocked), wanted, 200, 404, 409)


def _held_back(emptied: HttpResponse) -> Iterator[str]:
    """Yield the names, escaped for paths, of deleted objects that have finalizers."""
    # A kind may have been deleted since it was discovered; then there are no objects of it.
    for item in emptied.json().get("items", ()) if emptied.status == 200 else ():
        if item["metadata"].get("finalizers"):
            yield quote(item["metadata"]["name"], safe="")


def _collections(api: HttpCaller, namespace: str) -> Iterator[str]:
    """Yield the paths of all collections in the namespace that can be deleted."""
    for root in ("/api", "/apis"):
        discovered = _expect(api.call("GET", root, accept=DISCOVERY), "discover the API", 200)
        for group in discovered.json()["items"]:
            seen: set[str] = set()
            prefix = f"{root}/{group['metadata']['name']}" if root == "/apis" else root
            for version in group["versions"]:
                for resource in version.get("resources", ()):
                    plural = resource["resource"]
                    if (
                        resource["scope"] == "Namespaced"
                        and "deletecollection" in resource["verbs"]
                        and plural not in seen
                    ):
                        seen.add(plural)
                        yield f"{prefix}/{version['version']}/namespaces/{namespace}/{plural}"


def _expect(response: HttpResponse, wanted: str, *statuses: int) -> HttpResponse:
    if response.status not in statuses:
        raise ControlPlaneError(
            problem=f"could not {wanted}: the API server returned status {response.status}",
            what_now="See its response:",
            log_tail=response.body.decode(errors="replace"),
        )
    return response
