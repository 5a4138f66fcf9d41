package suite

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func TestATypedObjectIsCreatedReadUpdatedAndDeleted(t *testing.T) {
	made := configMap(namespace(t), "typed", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	read := &corev1.ConfigMap{}
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), read))
	equal(t, read.UID, made.UID)

	read.Data["b"] = "2"
	ok(t, direct.Update(t.Context(), read))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	equal(t, made.Data["b"], "2")

	ok(t, direct.Delete(t.Context(), made))
	rejected(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made), apierrors.IsNotFound)
}

func TestAnUnstructuredObjectIsCreatedReadUpdatedAndDeleted(t *testing.T) {
	made := boat(namespace(t), "plain", map[string]any{"flag": "NL"})
	ok(t, direct.Create(t.Context(), made))
	ok(t, unstructured.SetNestedField(made.Object, int64(3), "spec", "crew"))
	ok(t, direct.Update(t.Context(), made))
	equal(t, made.GetGeneration(), 2)
	ok(t, direct.Delete(t.Context(), made))
	gone(t, made)
}

func TestPartialMetadataIsReadListedAndPatched(t *testing.T) {
	made := configMap(namespace(t), "partial", "secret", "kept")
	ok(t, direct.Create(t.Context(), made))
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), partial))
	equal(t, partial.UID, made.UID)

	before := partial.DeepCopy()
	partial.Labels = map[string]string{"seen": "yes"}
	ok(t, direct.Patch(t.Context(), partial, client.MergeFrom(before)))
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	ok(t, direct.List(t.Context(), list, client.InNamespace(made.Namespace), client.MatchingLabels{"seen": "yes"}))
	equal(t, len(list.Items), 1)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	equal(t, made.Data["secret"], "kept")
}

func TestASecondObjectWithTheSameNameIsRejected(t *testing.T) {
	ns := namespace(t)
	ok(t, direct.Create(t.Context(), configMap(ns, "twice")))
	rejected(t, direct.Create(t.Context(), configMap(ns, "twice")), apierrors.IsAlreadyExists)
}

func TestAnInvalidObjectIsRejectedWithEveryReason(t *testing.T) {
	bad := pod(namespace(t), "Bad_Name")
	bad.Spec.Containers[0].Image = ""
	err := direct.Create(t.Context(), bad)
	rejected(t, err, apierrors.IsInvalid, "metadata.name", "spec.containers[0].image: Required value")
}

func TestAStaleUpdateIsRejectedAndCanBeRetried(t *testing.T) {
	made := configMap(namespace(t), "raced", "count", "0")
	ok(t, direct.Create(t.Context(), made))
	stale := made.DeepCopy()
	made.Data["count"] = "1"
	ok(t, direct.Update(t.Context(), made))
	stale.Data["count"] = "2"
	rejected(t, direct.Update(t.Context(), stale), apierrors.IsConflict)

	ok(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := direct.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); err != nil {
			return err
		}
		stale.Data["count"] = "2"
		return direct.Update(t.Context(), stale)
	}))
}

func TestAMergePatchWithAnOptimisticLockIsRejectedAfterAnotherWrite(t *testing.T) {
	made := configMap(namespace(t), "locked", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	base := made.DeepCopy()
	made.Data["a"] = "2"
	ok(t, direct.Update(t.Context(), made))

	mine := base.DeepCopy()
	mine.Data["b"] = "3"
	locked := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	rejected(t, direct.Patch(t.Context(), mine.DeepCopy(), locked), apierrors.IsConflict)
	ok(t, direct.Patch(t.Context(), mine, client.MergeFrom(base)))
	equal(t, mine.Data["a"]+mine.Data["b"], "23")
}

func TestAStrategicPatchMergesContainersByName(t *testing.T) {
	made := deployment(namespace(t), "strategic", 1)
	ok(t, direct.Create(t.Context(), made))
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"car"}]}}}}`
	ok(t, direct.Patch(t.Context(), made, client.RawPatch(types.StrategicMergePatchType, []byte(patch))))
	equal(t, len(made.Spec.Template.Spec.Containers), 2)
	equal(t, made.Generation, 2)
}

func TestAJSONPatchIsTestedBeforeItIsApplied(t *testing.T) {
	made := configMap(namespace(t), "json", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	patch := func(old string) client.Patch {
		steps := []map[string]string{
			{"op": "test", "path": "/data/a", "value": old},
			{"op": "replace", "path": "/data/a", "value": "2"},
		}
		raw, _ := json.Marshal(steps)
		return client.RawPatch(types.JSONPatchType, raw)
	}
	rejected(t, direct.Patch(t.Context(), made.DeepCopy(), patch("0")), apierrors.IsInvalid)
	ok(t, direct.Patch(t.Context(), made, patch("1")))
	equal(t, made.Data["a"], "2")
}

func TestCreateOrUpdateWritesOnlyWhatChanges(t *testing.T) {
	made := configMap(namespace(t), "either")
	set := func() error { made.Data = map[string]string{"a": "1"}; return nil }
	for _, wanted := range []controllerutil.OperationResult{
		controllerutil.OperationResultCreated, controllerutil.OperationResultNone,
	} {
		result, err := controllerutil.CreateOrUpdate(t.Context(), direct, made, set)
		ok(t, err)
		equal(t, result, wanted)
	}
}

func TestADryRunReturnsTheObjectAndStoresNothing(t *testing.T) {
	ns := namespace(t)
	dry := client.NewDryRunClient(direct)
	made := deployment(ns, "dry", 1)
	ok(t, dry.Create(t.Context(), made))
	equal(t, made.Spec.RevisionHistoryLimit == nil, false)
	rejected(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), &appsv1.Deployment{}), apierrors.IsNotFound)

	kept := configMap(ns, "kept", "a", "1")
	ok(t, direct.Create(t.Context(), kept))
	changed := kept.DeepCopy()
	changed.Data["a"] = "2"
	ok(t, dry.Update(t.Context(), changed))
	ok(t, dry.Delete(t.Context(), changed))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
	equal(t, kept.Data["a"], "1")
}

func TestGenerateNameSetsTheName(t *testing.T) {
	made := configMap(namespace(t), "")
	made.GenerateName = "made-"
	ok(t, direct.Create(t.Context(), made))
	equal(t, len(made.Name), len("made-")+5)
}

func TestDeletionChecksItsPreconditions(t *testing.T) {
	made := configMap(namespace(t), "precise")
	ok(t, direct.Create(t.Context(), made))
	other := types.UID("another-uid")
	rejected(t, direct.Delete(t.Context(), made, client.Preconditions{UID: &other}), apierrors.IsConflict)
	ok(t, direct.Delete(t.Context(), made, client.Preconditions{UID: &made.UID}))
}

func TestDeleteAllOfDeletesTheSelectedObjects(t *testing.T) {
	ns := namespace(t)
	for _, name := range []string{"one", "two", "three"} {
		made := configMap(ns, name)
		made.Labels = map[string]string{"odd": map[bool]string{true: "yes", false: "no"}[name != "two"]}
		ok(t, direct.Create(t.Context(), made))
	}
	ok(t, direct.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(ns), client.MatchingLabels{"odd": "yes"}))
	list := &corev1.ConfigMapList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns)))
	equal(t, len(list.Items), 1)
}

func TestStrictValidationRejectsUnknownFields(t *testing.T) {
	ns := namespace(t)
	strict := client.WithFieldValidation(direct, metav1.FieldValidationStrict)
	wrong := boat(ns, "strict", map[string]any{"flag": "NL", "sails": int64(3)})
	rejected(t, strict.Create(t.Context(), wrong), apierrors.IsBadRequest, `unknown field "spec.sails"`)
	ok(t, direct.Create(t.Context(), wrong))
	equal(t, field(t, wrong, "spec", "sails"), nil)
}

func deployment(namespace, name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       pod("", "").Spec,
			},
		},
	}
}
