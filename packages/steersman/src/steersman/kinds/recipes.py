"""Common objects with good defaults: ``recipes.deployment("web", container, replicas=3)``.

For all of them:

- Pods have the label ``app.kubernetes.io/name`` with the name of their application, and selectors
  use this label only, because a selector is immutable and so must not contain a label that may
  change. ``selector`` replaces this label. ``labels`` are added to the object and its Pods, but
  not to selectors.
- The object contains the given fields only. Other fields are left to the server's defaults and to
  other managers; with ``replicas=None``, an autoscaler can set the replicas.
- ``namespace`` may be omitted if another function sets it, as ``ctx.apply_owned`` does.
- ``pod`` sets the other fields of the Pods. Containers in ``pod`` come before the given containers.
- An invalid name or label raises ``BadName``.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from steersman.errors import BadName, BadValue
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.kinds.recipe_parts import (
    NAME_LABEL,
    Words,
    checked_count,
    checked_key,
    checked_labels,
    job_spec,
    joined,
    metadata,
    pod_spec,
    pod_template,
    selected,
)
from steersman.names import check_label
from steersman.units import Quantity

if TYPE_CHECKING:  # imported again where they are used: most operators create none of these
    from steersman.kinds import batch_v1, networking_v1

__all__ = [
    "NAME_LABEL",
    "config_map",
    "cron_job",
    "daemon_set",
    "deployment",
    "ingress",
    "job",
    "pod",
    "pvc",
    "secret",
    "service",
    "service_account",
    "stateful_set",
]

# The name of a Job is its CronJob's with a timestamp.
_MAX_CRON_JOB_LENGTH: Final = 52

ServiceType: TypeAlias = Literal["ClusterIP", "NodePort", "LoadBalancer"]
PathType: TypeAlias = Literal["Exact", "Prefix", "ImplementationSpecific"]
RestartPolicy: TypeAlias = Literal["Never", "OnFailure"]


def deployment(
    name: str,
    *containers: core_v1.Container,
    replicas: int | None = 1,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    selector: Words | None = None,
    pod: core_v1.PodSpec | None = None,
    pod_annotations: Words | None = None,
    strategy: apps_v1.DeploymentStrategy | None = None,
) -> apps_v1.Deployment:
    """A Deployment: ``replicas`` Pods with these containers; a change causes a rolling update."""
    found_by = selected(name, selector)
    all_labels = joined(found_by, labels)
    return apps_v1.Deployment(
        metadata=metadata(name, "a Deployment", namespace, all_labels, annotations),
        spec=apps_v1.DeploymentSpec(
            replicas=checked_count(replicas),
            selector=meta_v1.LabelSelector(match_labels=found_by),
            strategy=strategy,
            template=pod_template(containers, pod, all_labels, pod_annotations),
        ),
    )


def stateful_set(
    name: str,
    *containers: core_v1.Container,
    replicas: int | None = 1,
    service_name: str | None = None,
    claims: Iterable[core_v1.PersistentVolumeClaim] = (),
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    selector: Words | None = None,
    pod: core_v1.PodSpec | None = None,
    pod_annotations: Words | None = None,
) -> apps_v1.StatefulSet:
    """A StatefulSet: Pods with stable names, each with volumes created from ``claims``.

    ``service_name`` is the headless Service through which the Pods have DNS names; by default, it
    has the name of the set. ``service(name, ports, headless=True)`` builds such a Service.
    """
    found_by = selected(name, selector)
    all_labels = joined(found_by, labels)
    return apps_v1.StatefulSet(
        metadata=metadata(
            name, "a StatefulSet", namespace, all_labels, annotations, check=check_label
        ),
        spec=apps_v1.StatefulSetSpec(
            replicas=checked_count(replicas),
            selector=meta_v1.LabelSelector(match_labels=found_by),
            service_name=check_label(service_name or name, wanted="the name of a Service"),
            template=pod_template(containers, pod, all_labels, pod_annotations),
            volume_claim_templates=tuple(claims) or None,
        ),
    )


def daemon_set(
    name: str,
    *containers: core_v1.Container,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    selector: Words | None = None,
    pod: core_v1.PodSpec | None = None,
    pod_annotations: Words | None = None,
) -> apps_v1.DaemonSet:
    """A DaemonSet: a Pod with these containers on each node on which it can be scheduled."""
    found_by = selected(name, selector)
    all_labels = joined(found_by, labels)
    return apps_v1.DaemonSet(
        metadata=metadata(name, "a DaemonSet", namespace, all_labels, annotations),
        spec=apps_v1.DaemonSetSpec(
            selector=meta_v1.LabelSelector(match_labels=found_by),
            template=pod_template(containers, pod, all_labels, pod_annotations),
        ),
    )


def pod(
    name: str,
    *containers: core_v1.Container,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    pod: core_v1.PodSpec | None = None,
) -> core_v1.Pod:
    """A Pod that no controller owns: if its node fails, no other Pod replaces it."""
    all_labels = joined(selected(name, None), labels)
    return core_v1.Pod(
        metadata=metadata(name, "a Pod", namespace, all_labels, annotations),
        spec=pod_spec(containers, pod),
    )


def job(
    name: str,
    *containers: core_v1.Container,
    restart_policy: RestartPolicy | None = "Never",
    backoff_limit: int | None = None,
    keep_seconds: int | None = None,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    pod: core_v1.PodSpec | None = None,
    pod_annotations: Words | None = None,
) -> "batch_v1.Job":
    """A Job, which runs Pods with these containers until one Pod has succeeded.

    A failed Pod is replaced up to ``backoff_limit`` times, and the Job is deleted ``keep_seconds``
    after it has finished. The server chooses the selector. Most fields of a Job are immutable.
    """
    from steersman.kinds import batch_v1

    all_labels = joined(selected(name, None), labels)
    return batch_v1.Job(
        metadata=metadata(name, "a Job", namespace, all_labels, annotations),
        spec=job_spec(
            pod_template(containers, pod, all_labels, pod_annotations),
            restart_policy=restart_policy,
            backoff_limit=backoff_limit,
            keep_seconds=keep_seconds,
        ),
    )


def cron_job(
    name: str,
    schedule: str,
    *containers: core_v1.Container,
    time_zone: str | None = None,
    concurrency_policy: Literal["Allow", "Forbid", "Replace"] | None = None,
    suspend: bool | None = None,
    restart_policy: RestartPolicy | None = "Never",
    backoff_limit: int | None = None,
    keep_seconds: int | None = None,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    pod: core_v1.PodSpec | None = None,
    pod_annotations: Words | None = None,
) -> "batch_v1.CronJob":
    """A CronJob, which creates a Job at the times of ``schedule``, such as ``@hourly``.

    The arguments for the Job have the same meaning as in ``job``.
    """
    from steersman.kinds import batch_v1

    if len(name) > _MAX_CRON_JOB_LENGTH:
        raise BadName(
            wanted="the name of a CronJob",
            value=name,
            rule=f"it must have at most {_MAX_CRON_JOB_LENGTH} characters",
        )
    all_labels = joined(selected(name, None), labels)
    spec = job_spec(
        pod_template(containers, pod, all_labels, pod_annotations),
        restart_policy=restart_policy,
        backoff_limit=backoff_limit,
        keep_seconds=keep_seconds,
    )
    return batch_v1.CronJob(
        metadata=metadata(name, "a CronJob", namespace, all_labels, annotations),
        spec=batch_v1.CronJobSpec(
            schedule=schedule,
            time_zone=time_zone,
            concurrency_policy=concurrency_policy,
            suspend=suspend,
            job_template=batch_v1.JobTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=all_labels), spec=spec
            ),
        ),
    )


def service(
    name: str,
    ports: Iterable[core_v1.ServicePort],
    *,
    type: ServiceType | None = None,
    headless: bool = False,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    selector: Words | None = None,
) -> core_v1.Service:
    """A Service: one address for ``ports`` of the Pods of the application ``name``.

    With ``selector``, the Service selects other Pods. A ``headless`` Service has no cluster IP, but
    a DNS name for each Pod.
    """
    if headless and type not in (None, "ClusterIP"):
        raise BadValue(
            wanted="the type of a headless Service", value=type, rule="it must be ClusterIP"
        )
    listed = tuple(ports)
    if not listed and not headless:
        raise BadValue(
            wanted="the ports of a Service", value=listed, rule="there must be at least one"
        )
    if len(listed) > 1 and not all(port.name for port in listed):
        raise BadValue(
            wanted="the ports of a Service",
            value=[port.name or port.port for port in listed],
            rule="each must have a name if there are several",
        )
    found_by = selected(name, selector)
    all_labels = {**found_by, **checked_labels(labels)} if labels else {**found_by}
    return core_v1.Service(
        metadata=metadata(name, "a Service", namespace, all_labels, annotations, check=check_label),
        spec=core_v1.ServiceSpec(
            type=type,
            cluster_ip="None" if headless else None,
            ports=listed or None,
            selector=found_by,
        ),
    )


def ingress(
    name: str,
    *,
    host: str | None = None,
    service: str | None = None,
    port: int | str = 80,
    path: str = "/",
    path_type: PathType = "Prefix",
    tls_secret: str | None = None,
    class_name: str | None = None,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
) -> "networking_v1.Ingress":
    """An Ingress, which routes requests for ``host`` and ``path`` to a port of ``service``.

    ``port`` is a number or a name. By default, the Service has the name of the Ingress. With
    ``tls_secret``, the host is served over TLS with the certificate in that Secret.
    """
    from steersman.kinds import networking_v1

    number = networking_v1.ServiceBackendPort(number=port) if isinstance(port, int) else None
    backend = networking_v1.IngressServiceBackend(
        name=check_label(service or name, wanted="the name of a Service"),
        port=number or networking_v1.ServiceBackendPort(name=str(port)),
    )
    route = networking_v1.HTTPIngressPath(
        path=path,
        path_type=path_type,
        backend=networking_v1.IngressBackend(service=backend),
    )
    tls = networking_v1.IngressTLS(hosts=(host,) if host else None, secret_name=tls_secret)
    return networking_v1.Ingress(
        metadata=metadata(name, "an Ingress", namespace, checked_labels(labels), annotations),
        spec=networking_v1.IngressSpec(
            ingress_class_name=class_name,
            rules=(
                networking_v1.IngressRule(
                    host=host, http=networking_v1.HTTPIngressRuleValue(paths=(route,))
                ),
            ),
            tls=(tls,) if tls_secret else None,
        ),
    )


def config_map(
    name: str,
    data: Words,
    *,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    immutable: bool | None = None,
) -> core_v1.ConfigMap:
    """A ConfigMap that contains ``data``."""
    return core_v1.ConfigMap(
        metadata=metadata(name, "a ConfigMap", namespace, checked_labels(labels), annotations),
        data={checked_key(key): value for key, value in data.items()},
        immutable=immutable,
    )


def secret(
    name: str,
    string_data: Mapping[str, str | bytes],
    *,
    type: str | None = None,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
    immutable: bool | None = None,
) -> core_v1.Secret:
    """A Secret that contains ``string_data``; its type is ``Opaque`` by default.

    The values, strings or bytes, are sent as ``data``. With ``stringData``, server-side apply would
    record no manager for the resulting keys of ``data``, and a key that is removed later would stay
    in the cluster.
    """
    return core_v1.Secret(
        metadata=metadata(name, "a Secret", namespace, checked_labels(labels), annotations),
        data={
            checked_key(key): value.encode() if isinstance(value, str) else value
            for key, value in string_data.items()
        },
        type=type,
        immutable=immutable,
    )


def service_account(
    name: str,
    *,
    mounts_token: bool | None = None,
    pull_secrets: Iterable[str] = (),
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
) -> core_v1.ServiceAccount:
    """A ServiceAccount: the identity of Pods toward the API server."""
    return core_v1.ServiceAccount(
        metadata=metadata(name, "a ServiceAccount", namespace, checked_labels(labels), annotations),
        automount_service_account_token=mounts_token,
        image_pull_secrets=tuple(core_v1.LocalObjectReference(name=each) for each in pull_secrets)
        or None,
    )


def pvc(
    name: str,
    size: Quantity | str,
    *,
    access_modes: tuple[str, ...] = ("ReadWriteOnce",),
    storage_class: str | None = None,
    namespace: str | None = None,
    labels: Words | None = None,
    annotations: Words | None = None,
) -> core_v1.PersistentVolumeClaim:
    """A PersistentVolumeClaim for storage of the given ``size``.

    By default, the cluster's default storage class is used. ``stateful_set`` accepts such objects
    as ``claims``.
    """
    amount = size if isinstance(size, Quantity) else Quantity(size)
    return core_v1.PersistentVolumeClaim(
        metadata=metadata(
            name,
            "a PersistentVolumeClaim",
            namespace,
            checked_labels(labels),
            annotations,
        ),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=access_modes,
            resources=core_v1.VolumeResourceRequirements(requests={"storage": amount}),
            storage_class_name=storage_class,
        ),
    )
