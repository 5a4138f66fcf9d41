package suite

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	first  = client.FieldOwner("first")
	second = client.FieldOwner("second")
	status = client.FieldOwner("status")
)

func TestApplyCreatesUpdatesAndRemovesFields(t *testing.T) {
	ns := namespace(t)
	apply := func(data map[string]string) {
		ok(t, direct.Apply(t.Context(), coreapply.ConfigMap("applied", ns).WithData(data), first))
	}
	apply(map[string]string{"a": "1", "b": "2"})
	apply(map[string]string{"a": "1"})
	read := configMap(ns, "applied")
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	equal(t, len(read.Data), 1)
	equal(t, read.ManagedFields[0].Manager, "first")
	equal(t, read.ManagedFields[0].Operation, metav1.ManagedFieldsOperationApply)
}

func TestAnUnchangedApplyKeepsTheResourceVersion(t *testing.T) {
	ns := namespace(t)
	wanted := coreapply.ConfigMap("still", ns).WithData(map[string]string{"a": "1"})
	read := configMap(ns, "still")
	versions := map[string]bool{}
	for range 3 {
		ok(t, direct.Apply(t.Context(), wanted, first))
		ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
		versions[read.ResourceVersion] = true
	}
	equal(t, len(versions), 1)
}

func TestApplyReportsAConflictThatCanBeForced(t *testing.T) {
	ns := namespace(t)
	set := func(to string) *coreapply.ConfigMapApplyConfiguration {
		return coreapply.ConfigMap("fought", ns).WithData(map[string]string{"a": to})
	}
	ok(t, direct.Apply(t.Context(), set("1"), first))
	err := direct.Apply(t.Context(), set("2"), second)
	rejected(t, err, apierrors.IsConflict, `conflict with "first"`, ".data.a")
	ok(t, direct.Apply(t.Context(), set("2"), second, client.ForceOwnership))
	rejected(t, direct.Apply(t.Context(), set("3"), first), apierrors.IsConflict, `"second"`)
}

func TestTwoFieldManagersShareAListByItsKeys(t *testing.T) {
	ns := namespace(t)
	cargo := func(name string, tons int64) *unstructured.Unstructured {
		item := map[string]any{"name": name, "tons": tons}
		return boat(ns, "shared", map[string]any{"flag": "NL", "cargo": []any{item}})
	}
	for owner, made := range map[client.FieldOwner]*unstructured.Unstructured{first: cargo("tea", 2), second: cargo("tin", 3)} {
		ok(t, direct.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(made), owner))
	}
	read := boat(ns, "shared", nil)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	equal(t, len(field(t, read, "spec", "cargo").([]any)), 2)
}

func TestStatusIsAppliedThroughItsSubresource(t *testing.T) {
	ns := namespace(t)
	ok(t, direct.Create(t.Context(), deployment(ns, "statused", 1)))
	ok(t, direct.Status().Apply(t.Context(), appsapply.Deployment("statused", ns).
		WithSpec(appsapply.DeploymentSpec().WithReplicas(9)).
		WithStatus(appsapply.DeploymentStatus().WithReplicas(1)), status))
	read := deployment(ns, "statused", 1)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	equal(t, read.Status.Replicas, 1)
	equal(t, *read.Spec.Replicas, 1)
	equal(t, read.Generation, 1)
}

func TestStatusIsWrittenOnlyThroughItsSubresource(t *testing.T) {
	made := boat(namespace(t), "status", map[string]any{"flag": "NL"})
	made.Object["status"] = map[string]any{"state": "ignored"}
	ok(t, direct.Create(t.Context(), made))
	equal(t, field(t, made, "status"), nil)

	made.Object["status"] = map[string]any{"state": "afloat"}
	ok(t, unstructured.SetNestedField(made.Object, int64(7), "spec", "crew"))
	ok(t, direct.Status().Update(t.Context(), made))
	equal(t, field(t, made, "status", "state"), any("afloat"))
	equal(t, field(t, made, "spec", "crew"), any(int64(1)))
	equal(t, made.GetGeneration(), 1)

	before := made.DeepCopy()
	ok(t, unstructured.SetNestedField(made.Object, "aground", "status", "state"))
	ok(t, direct.Status().Patch(t.Context(), made, client.MergeFrom(before)))
	equal(t, field(t, made, "status", "state"), any("aground"))
}

func TestScaleIsReadAndWritten(t *testing.T) {
	ns := namespace(t)
	made := deployment(ns, "scaled", 1)
	ok(t, direct.Create(t.Context(), made))
	sailing := boat(ns, "scaled", map[string]any{"flag": "NL", "crew": int64(2)})
	ok(t, direct.Create(t.Context(), sailing))
	scale := &autoscalingv1.Scale{}
	ok(t, direct.SubResource("scale").Get(t.Context(), made, scale))
	scale.Spec.Replicas = 5
	ok(t, direct.SubResource("scale").Update(t.Context(), made, client.WithSubResourceBody(scale)))
	custom := &unstructured.Unstructured{}
	custom.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	ok(t, direct.SubResource("scale").Get(t.Context(), sailing, custom))
	ok(t, unstructured.SetNestedField(custom.Object, int64(5), "spec", "replicas"))
	ok(t, direct.SubResource("scale").Update(t.Context(), sailing, client.WithSubResourceBody(custom)))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	equal(t, *made.Spec.Replicas, 5)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(sailing), sailing))
	equal(t, field(t, sailing, "spec", "crew"), any(int64(5)))
}

func TestManagedFieldsNameTheManagerAndTheSubresource(t *testing.T) {
	ns := namespace(t)
	made := deployment(ns, "managed", 1)
	ok(t, direct.Create(t.Context(), made, client.FieldOwner("creator")))
	made.Status.ObservedGeneration = 1
	ok(t, direct.Status().Update(t.Context(), made, client.FieldOwner("observer")))
	found := map[string]string{}
	for _, each := range made.ManagedFields {
		found[each.Manager] = each.Subresource
	}
	equal(t, found["creator"], "")
	equal(t, found["observer"], "status")
}

func TestApplyWithoutAFieldManagerIsRejected(t *testing.T) {
	wanted := coreapply.ConfigMap("without-manager", namespace(t))
	err := direct.Apply(t.Context(), wanted)
	rejected(t, err, apierrors.IsInvalid, "fieldManager")
}

func TestApplySetsOwnerReferences(t *testing.T) {
	ns := namespace(t)
	owner := configMap(ns, "owner")
	ok(t, direct.Create(t.Context(), owner))
	ref := metaapply.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").WithName(owner.Name).WithUID(owner.UID)
	ok(t, direct.Apply(t.Context(), coreapply.Secret("owned", ns).WithOwnerReferences(ref), first))
	owned := &corev1.Secret{}
	ok(t, direct.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "owned"}, owned))
	equal(t, owned.OwnerReferences[0].UID, owner.UID)
	equal(t, owned.Type, corev1.SecretTypeOpaque)
}
