"""Pods whose status reports claims, devices and users, or which are resized; one error each."""

from collections.abc import Iterator
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object

GPU = "example.com/gpu"
SPEC: Object = {
    "os": {"name": "linux"},
    "resourceClaims": [{"name": "c", "resourceClaimName": "x"}],
    "containers": [
        {
            "name": "app",
            "image": "registry.example/app:1",
            "resources": {"limits": {GPU: 1}, "claims": [{"name": "c", "request": "r"}]},
        }
    ],
}
WINDOWS: Object = {
    "os": {"name": "windows"},
    "containers": [{"name": "app", "image": "registry.example/app:1"}],
}
STATUS: Object = {
    "name": "app",
    "image": "app",
    "imageID": "x",
    "ready": False,
    "restartCount": 0,
    "state": {"waiting": {"reason": "Why"}},
}


def pod_status_cases() -> Iterator[Case]:
    for says, status in (_claims() | _devices() | _users()).items():
        yield _case(says, SPEC, status)
    yield _case("a user on Windows", WINDOWS, _container(user={"linux": {"uid": 1, "gid": 1}}))
    bound = {**SPEC, "nodeName": "n"}
    yield _case("a nomination of a bound Pod", bound, {"nominatedNodeName": "m"}, name="bound")
    yield from _resizes()


def _case(says: str, spec: Object, status: Object, *, name: str = "reported") -> Case:
    return Case(
        says=f"status: {says}",
        plural="pods",
        body={"metadata": {"name": name}, "spec": spec},
        change={"status": status},
        subresource="status",
    )


def _container(**fields: Any) -> Object:
    return {"containerStatuses": [{**STATUS, **fields}]}


def _claims() -> dict[str, Object]:
    mapping = {"containerName": "app", "resourceName": GPU, "requestName": "r"}

    def extended(*mappings: Object, **fields: Any) -> Object:
        status = {"requestMappings": list(mappings), "resourceClaimName": "x", **fields}
        return {"extendedResourceClaimStatus": status}

    condition = {"type": "Ready", "status": "True", "observedGeneration": -1}
    return {
        "observed before the first generation": {"conditions": [condition]},
        "an unknown claim": {"resourceClaimStatuses": [{"name": "d"}]},
        "a claim twice": {"resourceClaimStatuses": [{"name": "c"}, {"name": "c"}]},
        "a claim of a bad name": {
            "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "A b"}]
        },
        "mappings": extended(mapping),
        "no mappings": extended(),
        "a mapping of no container": extended({**mapping, "containerName": "other"}),
        "a mapping of no resource": extended({**mapping, "resourceName": "example.com/other"}),
        "a mapping of a bad request": extended({**mapping, "requestName": "A b"}),
        "a mapping twice": extended(mapping, mapping),
        "mappings to no claim": extended(mapping, resourceClaimName=""),
        "mappings to a bad claim": extended(mapping, resourceClaimName="A b"),
    }


def _devices() -> dict[str, Object]:
    def healthy(*resources: Object, name: str = GPU) -> Object:
        return _container(allocatedResourcesStatus=[{"name": name, "resources": list(resources)}])

    good = {"resourceID": "a", "health": "Healthy"}
    beside = {**STATUS, "name": "debug", "allocatedResourcesStatus": [{"name": GPU}]}
    return {
        "a device": healthy(good),
        "a device of a claim": healthy(good, name="claim:c/r"),
        "a device of another resource": healthy(good, name="example.com/other"),
        "a device of another claim": healthy(good, name="claim:d"),
        "a device of unknown health": healthy({**good, "health": "Odd"}),
        "a device twice": healthy(good, good),
        "an empty message": healthy({**good, "message": ""}),
        "a long message": healthy({**good, "message": "m" * 1025}),
        "a device of an ephemeral container": {"ephemeralContainerStatuses": [beside]},
    }


def _users() -> dict[str, Object]:
    user = {"uid": 1, "gid": 1, "supplementalGroups": [1]}
    changes = {"uid": -1, "gid": -1, "supplementalGroups": [-1]}
    return {
        f"a bad {name}": _container(user={"linux": {**user, name: value}})
        for name, value in changes.items()
    }


def _resizes() -> Iterator[Case]:
    sizes = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    plain = {"containers": [{"name": "app", "image": "registry.example/app:1"}]}
    sized = {**plain, "resources": sizes}
    mirror = {"kubernetes.io/config.mirror": "m"}
    larger = {"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}}
    smaller = {"resources": {"limits": {"cpu": None}, "requests": {"cpu": None}}}
    debugger = {"name": "debug", "image": " registry.example/debug:1"}
    cases: dict[str, tuple[Object, Object, str]] = {
        "a mirror Pod": ({**sized, "nodeName": "n"}, larger, "resize"),
        "a Pod on Windows": (WINDOWS, {"containers": WINDOWS["containers"]}, "resize"),
        "no resources of the Pod": (sized, {"resources": None}, "resize"),
        "no CPUs of the Pod": (sized, smaller, "resize"),
        "more CPUs of the Pod": (sized, larger, "resize"),
        "a padded image": (plain, {"ephemeralContainers": [debugger]}, "ephemeralcontainers"),
    }
    for number, (says, (spec, change, subresource)) in enumerate(cases.items()):
        metadata: Object = {"name": f"resized-{number}"}
        if "mirror" in says:
            metadata["annotations"] = mirror
        yield Case(
            says=f"{subresource}: {says}",
            plural="pods",
            body={"metadata": metadata, "spec": spec},
            change={"spec": change},
            subresource=subresource,
        )
