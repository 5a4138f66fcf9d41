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
	mine   = client.FieldOwner("mine")
	yours  = client.FieldOwner("yours")
	status = client.FieldOwner("status")
)

func TestApplyCreatesUpdatesAndTakesBack(t *testing.T) {
	place := namespace(t)
	apply := func(data map[string]string) {
		ok(t, direct.Apply(t.Context(), coreapply.ConfigMap("applied", place).WithData(data), mine))
	}
	apply(map[string]string{"a": "1", "b": "2"})
	apply(map[string]string{"a": "1"})
	read := configMap(place, "applied")
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	same(t, len(read.Data), 1)
	same(t, read.ManagedFields[0].Manager, "mine")
	same(t, read.ManagedFields[0].Operation, metav1.ManagedFieldsOperationApply)
}

func TestApplyingWhatIsThereChangesNothing(t *testing.T) {
	place := namespace(t)
	wanted := coreapply.ConfigMap("still", place).WithData(map[string]string{"a": "1"})
	read := configMap(place, "still")
	versions := map[string]bool{}
	for range 3 {
		ok(t, direct.Apply(t.Context(), wanted, mine))
		ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
		versions[read.ResourceVersion] = true
	}
	same(t, len(versions), 1)
}

func TestAConflictOfOwnersIsToldAndCanBeForced(t *testing.T) {
	place := namespace(t)
	set := func(to string) *coreapply.ConfigMapApplyConfiguration {
		return coreapply.ConfigMap("fought", place).WithData(map[string]string{"a": to})
	}
	ok(t, direct.Apply(t.Context(), set("1"), mine))
	err := direct.Apply(t.Context(), set("2"), yours)
	refused(t, err, apierrors.IsConflict, `conflict with "mine"`, ".data.a")
	ok(t, direct.Apply(t.Context(), set("2"), yours, client.ForceOwnership))
	refused(t, direct.Apply(t.Context(), set("3"), mine), apierrors.IsConflict, `"yours"`)
}

func TestTwoOwnersShareAListByItsKeys(t *testing.T) {
	place := namespace(t)
	cargo := func(name string, tons int64) *unstructured.Unstructured {
		item := map[string]any{"name": name, "tons": tons}
		return boat(place, "shared", map[string]any{"flag": "NL", "cargo": []any{item}})
	}
	for owner, made := range map[client.FieldOwner]*unstructured.Unstructured{mine: cargo("tea", 2), yours: cargo("tin", 3)} {
		ok(t, direct.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(made), owner))
	}
	read := boat(place, "shared", nil)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	same(t, len(field(t, read, "spec", "cargo").([]any)), 2)
}

func TestStatusIsAppliedApart(t *testing.T) {
	place := namespace(t)
	ok(t, direct.Create(t.Context(), deployment(place, "statused", 1)))
	ok(t, direct.Status().Apply(t.Context(), appsapply.Deployment("statused", place).
		WithSpec(appsapply.DeploymentSpec().WithReplicas(9)).
		WithStatus(appsapply.DeploymentStatus().WithReplicas(1)), status))
	read := deployment(place, "statused", 1)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	same(t, read.Status.Replicas, 1)
	same(t, *read.Spec.Replicas, 1)
	same(t, read.Generation, 1)
}

func TestStatusIsWrittenOnlyThroughItsSubresource(t *testing.T) {
	made := boat(namespace(t), "status", map[string]any{"flag": "NL"})
	made.Object["status"] = map[string]any{"state": "ignored"}
	ok(t, direct.Create(t.Context(), made))
	same(t, field(t, made, "status"), nil)

	made.Object["status"] = map[string]any{"state": "afloat"}
	ok(t, unstructured.SetNestedField(made.Object, int64(7), "spec", "crew"))
	ok(t, direct.Status().Update(t.Context(), made))
	same(t, field(t, made, "status", "state"), any("afloat"))
	same(t, field(t, made, "spec", "crew"), any(int64(1)))
	same(t, made.GetGeneration(), 1)

	before := made.DeepCopy()
	ok(t, unstructured.SetNestedField(made.Object, "aground", "status", "state"))
	ok(t, direct.Status().Patch(t.Context(), made, client.MergeFrom(before)))
	same(t, field(t, made, "status", "state"), any("aground"))
}

func TestScaleIsReadAndWritten(t *testing.T) {
	place := namespace(t)
	made := deployment(place, "scaled", 1)
	ok(t, direct.Create(t.Context(), made))
	sailing := boat(place, "scaled", map[string]any{"flag": "NL", "crew": int64(2)})
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
	same(t, *made.Spec.Replicas, 5)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(sailing), sailing))
	same(t, field(t, sailing, "spec", "crew"), any(int64(5)))
}

func TestOwnersAreListedByManagerAndSubresource(t *testing.T) {
	place := namespace(t)
	made := deployment(place, "managed", 1)
	ok(t, direct.Create(t.Context(), made, client.FieldOwner("creator")))
	made.Status.ObservedGeneration = 1
	ok(t, direct.Status().Update(t.Context(), made, client.FieldOwner("observer")))
	found := map[string]string{}
	for _, each := range made.ManagedFields {
		found[each.Manager] = each.Subresource
	}
	same(t, found["creator"], "")
	same(t, found["observer"], "status")
}

func TestApplyWithoutAnOwnerIsRefused(t *testing.T) {
	wanted := coreapply.ConfigMap("nobody", namespace(t))
	err := direct.Apply(t.Context(), wanted)
	refused(t, err, apierrors.IsInvalid, "fieldManager")
}

func TestApplySetsOwnersOfOthers(t *testing.T) {
	place := namespace(t)
	owner := configMap(place, "owner")
	ok(t, direct.Create(t.Context(), owner))
	ref := metaapply.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").WithName(owner.Name).WithUID(owner.UID)
	ok(t, direct.Apply(t.Context(), coreapply.Secret("owned", place).WithOwnerReferences(ref), mine))
	owned := &corev1.Secret{}
	ok(t, direct.Get(t.Context(), client.ObjectKey{Namespace: place, Name: "owned"}, owned))
	same(t, owned.OwnerReferences[0].UID, owner.UID)
	same(t, owned.Type, corev1.SecretTypeOpaque)
}
