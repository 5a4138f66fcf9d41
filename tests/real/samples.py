"""A sample of every built-in kind that can be created, as the API server accepts it.

They have no effect: nothing matches the admission policies and webhooks, and no kubelet, scheduler
or controller runs.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from steersman.kinds import (
    Resource,
    apps_v1,
    authentication_v1,
    authorization_v1,
    autoscaling_v1,
    autoscaling_v2,
    batch_v1,
    core_v1,
    discovery_v1,
    meta_v1,
    networking_v1,
    policy_v1,
    replace,
)
from steersman.units import Quantity
from tests.real.cluster_samples import (
    admission,
    cluster,
    devices,
    extensions,
    permissions,
    storage,
)

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

LABELS = {"app": "sample"}
SELECTOR = meta_v1.LabelSelector(
    match_labels=LABELS,
    match_expressions=(
        meta_v1.LabelSelectorRequirement(key="tier", operator="In", values=("front",)),
    ),
)
POD_LABELS = {**LABELS, "tier": "front"}


def samples(namespace: str) -> Iterator[Resource]:
    """One object of each kind; cluster-scoped ones have the name ``namespace``."""
    namespaced = meta_v1.ObjectMeta(name="sample", namespace=namespace, labels=LABELS)
    cluster_scoped = meta_v1.ObjectMeta(
        name=namespace, labels=LABELS, annotations={"example.com/empty": ""}
    )
    yield from _core(namespaced, cluster_scoped)
    yield from _workloads(namespaced)
    yield from _network(namespaced, cluster_scoped)
    yield from permissions(namespaced, cluster_scoped)
    yield from storage(namespaced, cluster_scoped)
    yield from admission(cluster_scoped)
    yield from extensions(cluster_scoped)
    yield from devices(namespaced, cluster_scoped)
    yield from cluster(namespaced, cluster_scoped)


def reviews(namespace: str) -> Iterator[Resource]:
    """One review of each kind but that of ``rules_review``; the server does not store reviews."""
    attributes = authorization_v1.ResourceAttributes(
        namespace=namespace, verb="get", group="apps", resource="deployments"
    )
    user_review = authorization_v1.SubjectAccessReviewSpec(
        user="jane", groups=("staff",), extra={"scopes": ("read",)}, resource_attributes=attributes
    )
    yield authentication_v1.SelfSubjectReview()
    yield authentication_v1.TokenReview(
        spec=authentication_v1.TokenReviewSpec(token="not-a-token", audiences=("sample",))
    )
    yield authorization_v1.SubjectAccessReview(spec=user_review)
    yield authorization_v1.LocalSubjectAccessReview(
        metadata=meta_v1.ObjectMeta(namespace=namespace), spec=user_review
    )
    yield authorization_v1.SelfSubjectAccessReview(
        spec=authorization_v1.SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    )


def rules_review(namespace: str) -> authorization_v1.SelfSubjectRulesReview:
    """A review of the permissions of the client in the namespace."""
    return authorization_v1.SelfSubjectRulesReview(
        spec=authorization_v1.SelfSubjectRulesReviewSpec(namespace=namespace)
    )


def _pod_template() -> core_v1.PodTemplateSpec:
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels=POD_LABELS), spec=_pod_spec(restart_policy="Always")
    )


def _pod_spec(*, restart_policy: str) -> core_v1.PodSpec:
    container = core_v1.Container(
        name="main",
        image="example.com/main:1",
        command=("/bin/main",),
        args=(),
        env=(
            core_v1.EnvVar(name="PLAIN", value="1"),
            core_v1.EnvVar(
                name="NODE",
                value_from=core_v1.EnvVarSource(
                    field_ref=core_v1.ObjectFieldSelector(field_path="spec.nodeName")
                ),
            ),
        ),
        ports=(core_v1.ContainerPort(name="http", container_port=8080),),
        resources=core_v1.ResourceRequirements(
            limits={"cpu": Quantity("500m"), "memory": Quantity("128Mi")},
            requests={"cpu": Quantity("100m")},
        ),
        liveness_probe=core_v1.Probe(
            http_get=core_v1.HTTPGetAction(path="/healthz", port="http"), period_seconds=10
        ),
        readiness_probe=core_v1.Probe(tcp_socket=core_v1.TCPSocketAction(port=8080)),
        security_context=core_v1.SecurityContext(
            run_as_user=0, run_as_non_root=False, allow_privilege_escalation=False
        ),
        volume_mounts=(core_v1.VolumeMount(name="scratch", mount_path="/scratch"),),
    )
    return core_v1.PodSpec(
        containers=(container,),
        restart_policy=restart_policy,
        termination_grace_period_seconds=0,
        host_network=False,
        tolerations=(core_v1.Toleration(operator="Exists"),),
        volumes=(
            core_v1.Volume(name="scratch", empty_dir=core_v1.EmptyDirVolumeSource()),
            core_v1.Volume(
                name="mixed",
                projected=core_v1.ProjectedVolumeSource(
                    sources=(
                        core_v1.VolumeProjection(
                            downward_api=core_v1.DownwardAPIProjection(
                                items=(
                                    core_v1.DownwardAPIVolumeFile(
                                        path="labels",
                                        field_ref=core_v1.ObjectFieldSelector(
                                            field_path="metadata.labels"
                                        ),
                                    ),
                                )
                            )
                        ),
                    )
                ),
            ),
        ),
    )


def _claim_spec() -> core_v1.PersistentVolumeClaimSpec:
    return core_v1.PersistentVolumeClaimSpec(
        access_modes=("ReadWriteOnce",),
        resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
        storage_class_name="",
    )


def _core(namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta) -> Iterator[Resource]:
    yield core_v1.ConfigMap(
        metadata=namespaced, data={"empty": "", "text": "größer"}, binary_data={"b": b"\x00\xff"}
    )
    yield core_v1.Secret(
        metadata=namespaced, type="Opaque", data={"key": b"value"}, immutable=False
    )
    yield core_v1.ServiceAccount(metadata=namespaced, automount_service_account_token=False)
    yield core_v1.Service(
        metadata=namespaced,
        spec=core_v1.ServiceSpec(
            type="ClusterIP",
            cluster_ip="None",
            selector=LABELS,
            publish_not_ready_addresses=True,
            ports=(
                core_v1.ServicePort(name="http", port=80, target_port="http"),
                core_v1.ServicePort(name="metrics", port=9090, target_port=9090, protocol="TCP"),
            ),
        ),
    )
    yield core_v1.Endpoints(
        metadata=namespaced,
        subsets=(
            core_v1.EndpointSubset(
                addresses=(core_v1.EndpointAddress(ip="10.1.2.3", hostname="one"),),
                ports=(core_v1.EndpointPort(name="http", port=80),),
            ),
        ),
    )
    yield core_v1.Event(
        metadata=namespaced,
        involved_object=core_v1.ObjectReference(
            api_version="v1", kind="Pod", name="x", namespace=namespaced.namespace
        ),
        reason="Sampled",
        message="",
        type="Normal",
        count=1,
        first_timestamp=MOMENT,
        last_timestamp=MOMENT,
    )
    yield core_v1.LimitRange(
        metadata=namespaced,
        spec=core_v1.LimitRangeSpec(
            limits=(core_v1.LimitRangeItem(type="Container", max={"cpu": Quantity("2")}),)
        ),
    )
    yield core_v1.ResourceQuota(
        metadata=namespaced,
        spec=core_v1.ResourceQuotaSpec(hard={"pods": Quantity("0")}, scopes=("BestEffort",)),
    )
    yield core_v1.PersistentVolumeClaim(metadata=namespaced, spec=_claim_spec())
    yield core_v1.PersistentVolume(
        metadata=cluster_scoped,
        spec=core_v1.PersistentVolumeSpec(
            access_modes=("ReadWriteOnce",),
            capacity={"storage": Quantity("1Gi")},
            host_path=core_v1.HostPathVolumeSource(path="/data"),
            persistent_volume_reclaim_policy="Retain",
        ),
    )
    yield core_v1.Pod(metadata=namespaced, spec=_pod_spec(restart_policy="Never"))
    yield core_v1.PodTemplate(metadata=namespaced, template=_pod_template())
    yield core_v1.ReplicationController(
        metadata=namespaced,
        spec=core_v1.ReplicationControllerSpec(
            replicas=0, selector=POD_LABELS, template=_pod_template()
        ),
    )
    yield core_v1.Namespace(metadata=replace(cluster_scoped, name=f"{cluster_scoped.name}-inside"))
    yield core_v1.Node(
        metadata=cluster_scoped,
        spec=core_v1.NodeSpec(
            pod_cidr="10.2.0.0/24",
            pod_cidrs=("10.2.0.0/24",),
            provider_id="sample://one",
            unschedulable=False,
        ),
    )


def _workloads(namespaced: meta_v1.ObjectMeta) -> Iterator[Resource]:
    yield apps_v1.Deployment(
        metadata=namespaced,
        spec=apps_v1.DeploymentSpec(
            replicas=0,
            paused=True,
            selector=SELECTOR,
            template=_pod_template(),
            strategy=apps_v1.DeploymentStrategy(
                type="RollingUpdate",
                rolling_update=apps_v1.RollingUpdateDeployment(max_surge="25%", max_unavailable=0),
            ),
        ),
    )
    yield apps_v1.ReplicaSet(
        metadata=namespaced,
        spec=apps_v1.ReplicaSetSpec(replicas=0, selector=SELECTOR, template=_pod_template()),
    )
    yield apps_v1.DaemonSet(
        metadata=namespaced,
        spec=apps_v1.DaemonSetSpec(selector=SELECTOR, template=_pod_template()),
    )
    yield apps_v1.StatefulSet(
        metadata=namespaced,
        spec=apps_v1.StatefulSetSpec(
            replicas=0,
            service_name="sample",
            selector=SELECTOR,
            template=_pod_template(),
            volume_claim_templates=(
                core_v1.PersistentVolumeClaim(
                    metadata=meta_v1.ObjectMeta(name="data"), spec=_claim_spec()
                ),
            ),
        ),
    )
    yield apps_v1.ControllerRevision(
        metadata=namespaced, revision=0, data={"spec": {"list": [1, "two", False]}}
    )
    job = batch_v1.JobSpec(
        suspend=True,
        parallelism=0,
        completions=1,
        template=core_v1.PodTemplateSpec(spec=_pod_spec(restart_policy="Never")),
    )
    yield batch_v1.Job(metadata=namespaced, spec=job)
    yield batch_v1.CronJob(
        metadata=namespaced,
        spec=batch_v1.CronJobSpec(
            schedule="*/5 * * * *",
            suspend=True,
            successful_jobs_history_limit=0,
            job_template=batch_v1.JobTemplateSpec(spec=job),
        ),
    )
    yield autoscaling_v1.HorizontalPodAutoscaler(
        metadata=namespaced,
        spec=autoscaling_v1.HorizontalPodAutoscalerSpec(
            scale_target_ref=autoscaling_v1.CrossVersionObjectReference(
                api_version="apps/v1", kind="Deployment", name="sample"
            ),
            max_replicas=3,
            target_cpu_utilization_percentage=80,
        ),
    )
    yield autoscaling_v2.HorizontalPodAutoscaler(
        metadata=replace(namespaced, name="sample-two"),
        spec=autoscaling_v2.HorizontalPodAutoscalerSpec(
            scale_target_ref=autoscaling_v2.CrossVersionObjectReference(
                api_version="apps/v1", kind="Deployment", name="sample"
            ),
            min_replicas=1,
            max_replicas=3,
            metrics=(
                autoscaling_v2.MetricSpec(
                    type="Resource",
                    resource=autoscaling_v2.ResourceMetricSource(
                        name="cpu",
                        target=autoscaling_v2.MetricTarget(
                            type="AverageValue", average_value=Quantity("250m")
                        ),
                    ),
                ),
            ),
        ),
    )
    yield policy_v1.PodDisruptionBudget(
        metadata=namespaced,
        spec=policy_v1.PodDisruptionBudgetSpec(min_available="50%", selector=SELECTOR),
    )


def _network(
    namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta
) -> Iterator[Resource]:
    backend = networking_v1.IngressBackend(
        service=networking_v1.IngressServiceBackend(
            name="sample", port=networking_v1.ServiceBackendPort(number=80)
        )
    )
    yield networking_v1.Ingress(
        metadata=namespaced,
        spec=networking_v1.IngressSpec(
            ingress_class_name="sample",
            tls=(networking_v1.IngressTLS(hosts=("example.com",), secret_name="sample"),),
            rules=(
                networking_v1.IngressRule(
                    host="example.com",
                    http=networking_v1.HTTPIngressRuleValue(
                        paths=(
                            networking_v1.HTTPIngressPath(
                                path="/", path_type="Prefix", backend=backend
                            ),
                        )
                    ),
                ),
            ),
        ),
    )
    yield networking_v1.IngressClass(
        metadata=cluster_scoped,
        spec=networking_v1.IngressClassSpec(controller="example.com/sample"),
    )
    yield networking_v1.NetworkPolicy(
        metadata=namespaced,
        spec=networking_v1.NetworkPolicySpec(
            pod_selector=meta_v1.LabelSelector(),
            policy_types=("Ingress", "Egress"),
            ingress=(
                networking_v1.NetworkPolicyIngressRule(
                    from_=(
                        networking_v1.NetworkPolicyPeer(
                            ip_block=networking_v1.IPBlock(
                                cidr="10.0.0.0/8", except_=("10.1.0.0/16",)
                            )
                        ),
                    ),
                    ports=(networking_v1.NetworkPolicyPort(protocol="TCP", port="http"),),
                ),
            ),
        ),
    )
    yield networking_v1.IPAddress(
        metadata=meta_v1.ObjectMeta(
            name="10.0.77.77", labels={"ipaddress.kubernetes.io/ip-family": "IPv4"}
        ),
        spec=networking_v1.IPAddressSpec(
            parent_ref=networking_v1.ParentReference(
                resource="services", name="sample", namespace=namespaced.namespace
            )
        ),
    )
    yield networking_v1.ServiceCIDR(
        metadata=cluster_scoped, spec=networking_v1.ServiceCIDRSpec(cidrs=("10.77.0.0/24",))
    )
    yield discovery_v1.EndpointSlice(
        metadata=namespaced,
        address_type="IPv4",
        endpoints=(
            discovery_v1.Endpoint(
                addresses=("10.1.2.3",),
                conditions=discovery_v1.EndpointConditions(ready=False),
                zone="one",
            ),
        ),
        ports=(discovery_v1.EndpointPort(name="http", port=80, protocol="TCP"),),
    )
