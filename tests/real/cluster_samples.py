"""Samples of all kinds but workloads, networking and the core group."""

from collections.abc import Iterator
from datetime import UTC, datetime

from steersman.kinds import (
    Resource,
    admissionregistration_v1,
    apiextensions_v1,
    apiregistration_v1,
    certificates_v1,
    coordination_v1,
    core_v1,
    events_v1,
    flowcontrol_v1,
    meta_v1,
    node_v1,
    rbac_v1,
    replace,
    resource_v1,
    scheduling_v1,
    storage_v1,
)
from steersman.units import MicroTime, Quantity

MOMENT = MicroTime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
FULL_SECOND = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

LABELS = {"app": "sample"}
NOTHING = meta_v1.LabelSelector(match_labels={"sample.example.com/matches": "nothing"})

# A constant, because each signature differs. The common name is "sample".
SIGNING_REQUEST = b"""\
-----BEGIN CERTIFICATE REQUEST-----
MIHMMHMCAQAwETEPMA0GA1UEAwwGc2FtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEYp8YKXTm5YUP20MtAfo/xTMEsaVSlp6oSxSTKM9OBN9t7CL0ta3SFiKe
1b2QYU+Drzx0zE5rMDU2akOKhJSjMKAAMAoGCCqGSM49BAMCA0kAMEYCIQC81JbV
EYK06eLwlbURBilhzF7XOZi2hVfkrtoh06A1VwIhAPNfy45eihtablamAA68tXrt
k3F/fShb/NM70t6aVAOw
-----END CERTIFICATE REQUEST-----
"""


def permissions(
    namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta
) -> Iterator[Resource]:
    """Roles, bindings, and a CertificateSigningRequest."""
    rules = (rbac_v1.PolicyRule(api_groups=("",), resources=("pods",), verbs=("get", "list")),)
    subjects = (
        rbac_v1.Subject(kind="User", name="jane", api_group="rbac.authorization.k8s.io"),
        rbac_v1.Subject(kind="ServiceAccount", name="sample", namespace=namespaced.namespace),
    )
    role = rbac_v1.RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="sample")
    yield rbac_v1.Role(metadata=namespaced, rules=rules)
    yield rbac_v1.RoleBinding(metadata=namespaced, role_ref=role, subjects=subjects)
    yield rbac_v1.ClusterRole(
        metadata=cluster_scoped,
        rules=(*rules, rbac_v1.PolicyRule(non_resource_urls=("/metrics",), verbs=("get",))),
        aggregation_rule=rbac_v1.AggregationRule(cluster_role_selectors=(NOTHING,)),
    )
    yield rbac_v1.ClusterRoleBinding(
        metadata=cluster_scoped,
        role_ref=rbac_v1.RoleRef(
            api_group="rbac.authorization.k8s.io",
            kind="ClusterRole",
            name=cluster_scoped.name or "",
        ),
        subjects=subjects,
    )
    yield certificates_v1.CertificateSigningRequest(
        metadata=cluster_scoped,
        spec=certificates_v1.CertificateSigningRequestSpec(
            request=SIGNING_REQUEST,
            signer_name="example.com/sample",
            usages=("client auth",),
            expiration_seconds=3600,
        ),
    )


def storage(
    namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta
) -> Iterator[Resource]:
    """StorageClasses and CSI drivers."""
    yield storage_v1.StorageClass(
        metadata=cluster_scoped,
        provisioner="example.com/sample",
        parameters={"speed": "fast"},
        allow_volume_expansion=False,
        volume_binding_mode="WaitForFirstConsumer",
    )
    yield storage_v1.CSIDriver(
        metadata=cluster_scoped,
        spec=storage_v1.CSIDriverSpec(
            attach_required=False,
            storage_capacity=True,
            token_requests=(storage_v1.TokenRequest(audience="sample"),),
        ),
    )
    yield storage_v1.CSINode(
        metadata=cluster_scoped,
        spec=storage_v1.CSINodeSpec(
            drivers=(
                storage_v1.CSINodeDriver(
                    name="sample.example.com",
                    node_id="one",
                    topology_keys=("zone",),
                    allocatable=storage_v1.VolumeNodeResources(count=0),
                ),
            )
        ),
    )
    yield storage_v1.CSIStorageCapacity(
        metadata=namespaced, storage_class_name="sample", capacity=Quantity("10Gi")
    )
    yield storage_v1.VolumeAttachment(
        metadata=cluster_scoped,
        spec=storage_v1.VolumeAttachmentSpec(
            attacher="sample.example.com",
            node_name="sample",
            source=storage_v1.VolumeAttachmentSource(persistent_volume_name="sample"),
        ),
    )
    yield storage_v1.VolumeAttributesClass(
        metadata=cluster_scoped, driver_name="sample.example.com", parameters={"iops": "100"}
    )


def admission(cluster_scoped: meta_v1.ObjectMeta) -> Iterator[Resource]:
    """Policies and webhooks."""
    unreachable = admissionregistration_v1.WebhookClientConfig(url="https://127.0.0.1:1/none")
    rule = admissionregistration_v1.RuleWithOperations(
        operations=("CREATE",), api_groups=("",), api_versions=("v1",), resources=("configmaps",)
    )
    matching = admissionregistration_v1.MatchResources(
        namespace_selector=NOTHING,
        resource_rules=(
            admissionregistration_v1.NamedRuleWithOperations(
                operations=("CREATE",),
                api_groups=("",),
                api_versions=("v1",),
                resources=("configmaps",),
            ),
        ),
    )
    name = cluster_scoped.name or ""
    yield admissionregistration_v1.ValidatingWebhookConfiguration(
        metadata=cluster_scoped,
        webhooks=(
            admissionregistration_v1.ValidatingWebhook(
                name="sample.example.com",
                admission_review_versions=("v1",),
                client_config=unreachable,
                side_effects="None",
                failure_policy="Ignore",
                namespace_selector=NOTHING,
                rules=(rule,),
            ),
        ),
    )
    yield admissionregistration_v1.MutatingWebhookConfiguration(
        metadata=cluster_scoped,
        webhooks=(
            admissionregistration_v1.MutatingWebhook(
                name="sample.example.com",
                admission_review_versions=("v1",),
                client_config=unreachable,
                side_effects="None",
                failure_policy="Ignore",
                object_selector=NOTHING,
                rules=(rule,),
            ),
        ),
    )
    yield admissionregistration_v1.ValidatingAdmissionPolicy(
        metadata=cluster_scoped,
        spec=admissionregistration_v1.ValidatingAdmissionPolicySpec(
            match_constraints=matching,
            validations=(
                admissionregistration_v1.Validation(expression="has(object.data)", message="no"),
            ),
        ),
    )
    yield admissionregistration_v1.ValidatingAdmissionPolicyBinding(
        metadata=cluster_scoped,
        spec=admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec(
            policy_name=name, validation_actions=("Warn",)
        ),
    )
    yield admissionregistration_v1.MutatingAdmissionPolicy(
        metadata=cluster_scoped,
        spec=admissionregistration_v1.MutatingAdmissionPolicySpec(
            match_constraints=matching,
            reinvocation_policy="Never",
            mutations=(
                admissionregistration_v1.Mutation(
                    patch_type="ApplyConfiguration",
                    apply_configuration=admissionregistration_v1.ApplyConfiguration(
                        expression='Object{metadata: Object.metadata{labels: {"sample": "yes"}}}'
                    ),
                ),
            ),
        ),
    )
    yield admissionregistration_v1.MutatingAdmissionPolicyBinding(
        metadata=cluster_scoped,
        spec=admissionregistration_v1.MutatingAdmissionPolicyBindingSpec(policy_name=name),
    )


def extensions(cluster_scoped: meta_v1.ObjectMeta) -> Iterator[Resource]:
    """A CustomResourceDefinition and an aggregated API."""
    schema = apiextensions_v1.JSONSchemaProps(
        type="object",
        properties={
            "spec": apiextensions_v1.JSONSchemaProps(
                type="object",
                required=("size",),
                properties={
                    "size": apiextensions_v1.JSONSchemaProps(
                        type="integer", minimum=0.0, default=0, format="int32"
                    ),
                    "ports": apiextensions_v1.JSONSchemaProps(
                        type="array",
                        x_kubernetes_list_type="set",
                        items={"x-kubernetes-int-or-string": True},
                    ),
                    "rest": apiextensions_v1.JSONSchemaProps(
                        type="object", x_kubernetes_preserve_unknown_fields=True
                    ),
                },
                x_kubernetes_validations=(
                    apiextensions_v1.ValidationRule(rule="self.size < 10", message="too many"),
                ),
            )
        },
    )
    yield apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name=f"samples.{cluster_scoped.name}.example.com"),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group=f"{cluster_scoped.name}.example.com",
            scope="Namespaced",
            names=apiextensions_v1.CustomResourceDefinitionNames(
                kind="Sample", plural="samples", singular="sample", short_names=("smp",)
            ),
            versions=(
                apiextensions_v1.CustomResourceDefinitionVersion(
                    name="v1",
                    served=True,
                    storage=True,
                    schema=apiextensions_v1.CustomResourceValidation(open_api_v3_schema=schema),
                    subresources=apiextensions_v1.CustomResourceSubresources(status={}),
                    additional_printer_columns=(
                        apiextensions_v1.CustomResourceColumnDefinition(
                            name="Size", type="integer", json_path=".spec.size", priority=0
                        ),
                    ),
                ),
            ),
        ),
    )
    group = f"aggregated-{cluster_scoped.name}.example.com"
    yield apiregistration_v1.APIService(
        metadata=meta_v1.ObjectMeta(name=f"v1.{group}"),
        spec=apiregistration_v1.APIServiceSpec(
            group=group,
            version="v1",
            group_priority_minimum=1,
            version_priority=1,
            insecure_skip_tls_verify=True,
            service=apiregistration_v1.ServiceReference(name="none", namespace="default", port=443),
        ),
    )


def devices(
    namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta
) -> Iterator[Resource]:
    """ResourceClaims, and devices."""
    claim = resource_v1.ResourceClaimSpec(
        devices=resource_v1.DeviceClaim(
            requests=(
                resource_v1.DeviceRequest(
                    name="one",
                    exactly=resource_v1.ExactDeviceRequest(
                        device_class_name="sample.example.com", allocation_mode="All"
                    ),
                ),
            ),
            config=(
                resource_v1.DeviceClaimConfiguration(
                    opaque=resource_v1.OpaqueDeviceConfiguration(
                        driver="sample.example.com",
                        parameters={"apiVersion": "x/v1", "kind": "X", "empty": []},
                    )
                ),
            ),
        )
    )
    yield resource_v1.ResourceClaim(metadata=namespaced, spec=claim)
    yield resource_v1.ResourceClaimTemplate(
        metadata=namespaced,
        spec=resource_v1.ResourceClaimTemplateSpec(
            metadata=meta_v1.ObjectMeta(labels=LABELS), spec=claim
        ),
    )
    yield resource_v1.DeviceClass(
        metadata=cluster_scoped,
        spec=resource_v1.DeviceClassSpec(
            selectors=(
                resource_v1.DeviceSelector(
                    cel=resource_v1.CELDeviceSelector(expression="device.driver == 'x'")
                ),
            )
        ),
    )
    yield resource_v1.ResourceSlice(
        metadata=cluster_scoped,
        spec=resource_v1.ResourceSliceSpec(
            driver="sample.example.com",
            all_nodes=True,
            pool=resource_v1.ResourcePool(name="pool", generation=0, resource_slice_count=1),
            devices=(
                resource_v1.Device(
                    name="one",
                    attributes={
                        "on": resource_v1.DeviceAttribute(bool_=False),
                        "slots": resource_v1.DeviceAttribute(int_=0),
                        "model": resource_v1.DeviceAttribute(string="x"),
                    },
                    capacity={"memory": resource_v1.DeviceCapacity(value=Quantity("1Gi"))},
                ),
            ),
        ),
    )


def cluster(
    namespaced: meta_v1.ObjectMeta, cluster_scoped: meta_v1.ObjectMeta
) -> Iterator[Resource]:
    """The remaining kinds."""
    yield coordination_v1.Lease(
        metadata=namespaced,
        spec=coordination_v1.LeaseSpec(
            holder_identity="",
            lease_duration_seconds=15,
            lease_transitions=0,
            acquire_time=MOMENT,
            renew_time=MicroTime.of(FULL_SECOND),
        ),
    )
    yield events_v1.Event(
        metadata=replace(namespaced, name="sample-event"),
        action="Sampling",
        event_time=MOMENT,
        note="größer",
        reason="Sampled",
        regarding=core_v1.ObjectReference(kind="Pod", name="x", namespace=namespaced.namespace),
        reporting_controller="example.com/sample",
        reporting_instance="one",
        series=events_v1.EventSeries(count=2, last_observed_time=MOMENT),
        type="Normal",
    )
    yield scheduling_v1.PriorityClass(
        metadata=cluster_scoped, value=0, global_default=False, preemption_policy="Never"
    )
    yield node_v1.RuntimeClass(
        metadata=cluster_scoped,
        handler="sample",
        overhead=node_v1.Overhead(pod_fixed={"cpu": Quantity("250m")}),
    )
    yield flowcontrol_v1.FlowSchema(
        metadata=cluster_scoped,
        spec=flowcontrol_v1.FlowSchemaSpec(
            priority_level_configuration=flowcontrol_v1.PriorityLevelConfigurationReference(
                name="global-default"
            ),
            matching_precedence=9999,
            distinguisher_method=flowcontrol_v1.FlowDistinguisherMethod(type="ByUser"),
            rules=(
                flowcontrol_v1.PolicyRulesWithSubjects(
                    subjects=(
                        flowcontrol_v1.Subject(
                            kind="User", user=flowcontrol_v1.UserSubject(name="missing")
                        ),
                    ),
                    resource_rules=(
                        flowcontrol_v1.ResourcePolicyRule(
                            verbs=("get",),
                            api_groups=("",),
                            resources=("pods",),
                            namespaces=("*",),
                        ),
                    ),
                ),
            ),
        ),
    )
    yield flowcontrol_v1.PriorityLevelConfiguration(
        metadata=cluster_scoped,
        spec=flowcontrol_v1.PriorityLevelConfigurationSpec(
            type="Limited",
            limited=flowcontrol_v1.LimitedPriorityLevelConfiguration(
                nominal_concurrency_shares=0,
                limit_response=flowcontrol_v1.LimitResponse(type="Reject"),
            ),
        ),
    )
