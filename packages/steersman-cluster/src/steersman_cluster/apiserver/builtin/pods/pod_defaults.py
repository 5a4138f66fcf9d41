"""The defaults of Pods and Pod templates."""

import re
from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    aggregated,
    may_be_overcommitted,
    round_up,
)
from steersman_cluster.apiserver.builtin.pods.volumes import has_source
from steersman_cluster.apiserver.meta.strategy import Object

_FILE_MODE: Final = 0o644
_TOKEN_SECONDS: Final = 3600
_MODES: Final = ("secret", "configMap", "downwardAPI", "projected")
# The feature gates of these fields are disabled: kube-apiserver drops the fields.
_DISABLED_PROJECTIONS: Final = ("clusterTrustBundle", "podCertificate")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HUGE_PAGES: Final = "hugepages-"
# Annotations from the time before initContainers was a field.
_DROPPED_ANNOTATIONS: Final = tuple(
    f"pod.{stage}.kubernetes.io/init-container{ending}"
    for stage in ("alpha", "beta")
    for ending in ("s", "-statuses")
)

_MAX_REPOSITORY_LENGTH: Final = 255
_USUAL_REGISTRY: Final = "docker.io/library/"
_PART: Final = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN_PART: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_image_reference: Final = re.compile(
    rf"(?![0-9a-f]{{64}}\Z)(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*(?::[0-9]+)?/)?"
    rf"{_PART}(?:/{_PART})*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
).fullmatch


def default_pod(pod: Object) -> None:
    """Set the defaults of a Pod."""
    spec = _spec_of(pod)
    if annotations := pod["metadata"].get("annotations"):
        for name in _DROPPED_ANNOTATIONS:
            annotations.pop(name, None)
    for container in _containers(spec, "containers", "initContainers"):
        if limits := container.get("resources", {}).get("limits"):
            requests = container["resources"].setdefault("requests", {})
            for name, amount in limits.items():
                requests.setdefault(name, amount)
    if resources := spec.get("resources"):
        _default_pod_resources(spec, resources)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in _containers(spec, "containers", "initContainers"):
            for port in container.get("ports") or ():
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]
    default_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1


def default_template(template: Object) -> None:
    """Set the defaults of a Pod template."""
    default_spec(_spec_of(template))


def _spec_of(owner: Object) -> Object:
    spec: Object = owner.setdefault("spec", {"containers": None})
    return spec


def default_spec(spec: Object) -> None:
    """Set the defaults of a Pod's spec."""
    # The feature gate of this field is disabled.
    spec.pop("schedulingGroup", None)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    # serviceAccount is the deprecated name; kube-apiserver writes both.
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _default_volume(volume)
    for container in _containers(spec, "containers", "initContainers", "ephemeralContainers"):
        _default_container(container)
    for owner in (spec, spec.get("resources") or {}):
        for name in ("overhead", "limits", "requests"):
            if amounts := owner.get(name):
                round_up(amounts)


def _containers(spec: Object, *kinds: str) -> Iterator[Object]:
    for kind in kinds:
        yield from spec.get(kind) or ()


def _default_container(container: Object) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = default_pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for variable in container.get("env") or ():
        if source := variable.get("valueFrom"):
            _default_field_ref(source)
            if (file := source.get("fileKeyRef")) is not None:
                file.setdefault("optional", False)
    if resources := container.get("resources"):
        for kind in ("limits", "requests"):
            if amounts := resources.get(kind):
                round_up(amounts)
    for name in _PROBES:
        if (probe := container.get(name)) is not None:
            _default_probe(probe)
    if lifecycle := container.get("lifecycle"):
        _default_lifecycle(container, lifecycle)


def _default_lifecycle(container: Object, lifecycle: Object) -> None:
    # The feature gate of this field is disabled.
    if lifecycle.pop("stopSignal", None) is not None and not lifecycle:
        del container["lifecycle"]
    for hook in lifecycle.values():
        if (action := hook.get("httpGet")) is not None:
            _default_http_get(action)


def _is_long(image: str) -> bool:
    """Return whether the repository of ``image`` is too long, with its default registry."""
    if len(image) <= _MAX_REPOSITORY_LENGTH - len(_USUAL_REGISTRY):
        return False
    name = image.partition("@")[0].rpartition("/")[0::2]
    repository = "/".join((*name[:1], name[1].partition(":")[0])).lstrip("/")
    first, slash, _ = repository.partition("/")
    is_elsewhere = slash and ("." in first or ":" in first or first == "localhost")
    usual = "" if is_elsewhere else _USUAL_REGISTRY if not slash else "docker.io/"
    return len(usual) + len(repository) > _MAX_REPOSITORY_LENGTH


def default_pull_policy(image: str) -> str:
    """Return the default pull policy of an image.

    The policy is Always for the tag ``latest``, and for an image with neither a tag nor a digest.
    An invalid reference gets IfNotPresent.
    """
    found = _image_reference(image)
    if found is None or _is_long(image):
        return "IfNotPresent"
    tag, digest = found["tag"], found["digest"]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _default_field_ref(holder: Object) -> None:
    if (reference := holder.get("fieldRef")) is not None:
        reference.setdefault("apiVersion", "v1")


def _default_probe(probe: Object) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if (action := probe.get("httpGet")) is not None:
        _default_http_get(action)
    if (call := probe.get("grpc")) is not None:
        call["service"] = call.get("service") or ""


def _default_http_get(action: Object) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


def _default_volume(volume: Object) -> None:
    if not has_source(volume):
        volume["emptyDir"] = {}
        return
    if (image := volume.get("image")) is not None and "pullPolicy" not in image:
        image["pullPolicy"] = default_pull_policy(image.get("reference", ""))
    if (disk := volume.get("azureDisk")) is not None:
        disk.setdefault("readOnly", False)
    if (host := volume.get("hostPath")) is not None:
        host.setdefault("type", "")
    for kind in _MODES:
        if (source := volume.get(kind)) is not None:
            source.setdefault("defaultMode", _FILE_MODE)
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _default_field_ref(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for name in _DISABLED_PROJECTIONS:
            source.pop(name, None)
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _default_field_ref(item)
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", _TOKEN_SECONDS)
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        default_claim(template.setdefault("spec", {}))


def default_claim(spec: Object) -> None:
    """Set the defaults of the spec in a template of PersistentVolumeClaims."""
    spec.setdefault("volumeMode", "Filesystem")
    for kind in ("limits", "requests"):
        if amounts := spec.get("resources", {}).get(kind):
            round_up(amounts)


def _default_pod_resources(spec: Object, resources: Object) -> None:
    """Default missing Pod-level resources to those of the containers.

    Nothing is set if the Pod has no Pod-level resources.
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if not limits and not requests:
        return
    limits, requests = {**limits}, {**requests}
    for name, amount in aggregated(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name not in requests:
            limits.setdefault(name, str(amount))
    if limits:
        for name, amount in aggregated(spec, "requests").items():
            if name in ("cpu", "memory") and may_be_overcommitted(name):
                requests.setdefault(name, str(amount))
        for name, text in limits.items():
            if name in ("cpu", "memory") or name.startswith(_HUGE_PAGES):
                requests.setdefault(name, text)
        resources["limits"] = limits
    if requests:
        resources["requests"] = requests
