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
	same(t, read.UID, made.UID)

	read.Data["b"] = "2"
	ok(t, direct.Update(t.Context(), read))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	same(t, made.Data["b"], "2")

	ok(t, direct.Delete(t.Context(), made))
	refused(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made), apierrors.IsNotFound)
}

func TestAnUnstructuredObjectIsCreatedReadUpdatedAndDeleted(t *testing.T) {
	made := boat(namespace(t), "plain", map[string]any{"flag": "NL"})
	ok(t, direct.Create(t.Context(), made))
	ok(t, unstructured.SetNestedField(made.Object, int64(3), "spec", "crew"))
	ok(t, direct.Update(t.Context(), made))
	same(t, made.GetGeneration(), 2)
	ok(t, direct.Delete(t.Context(), made))
	gone(t, made)
}

func TestPartialMetadataIsReadListedAndPatched(t *testing.T) {
	made := configMap(namespace(t), "partial", "secret", "kept")
	ok(t, direct.Create(t.Context(), made))
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), partial))
	same(t, partial.UID, made.UID)

	before := partial.DeepCopy()
	partial.Labels = map[string]string{"seen": "yes"}
	ok(t, direct.Patch(t.Context(), partial, client.MergeFrom(before)))
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	ok(t, direct.List(t.Context(), list, client.InNamespace(made.Namespace), client.MatchingLabels{"seen": "yes"}))
	same(t, len(list.Items), 1)
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	same(t, made.Data["secret"], "kept")
}

func TestTwoObjectsOfOneNameAreOneTooMany(t *testing.T) {
	place := namespace(t)
	ok(t, direct.Create(t.Context(), configMap(place, "twice")))
	refused(t, direct.Create(t.Context(), configMap(place, "twice")), apierrors.IsAlreadyExists)
}

func TestAnInvalidObjectIsRefusedWithEveryReason(t *testing.T) {
	bad := pod(namespace(t), "Bad_Name")
	bad.Spec.Containers[0].Image = ""
	err := direct.Create(t.Context(), bad)
	refused(t, err, apierrors.IsInvalid, "metadata.name", "spec.containers[0].image: Required value")
}

func TestAnOlderVersionIsRefusedAndCanBeRetried(t *testing.T) {
	made := configMap(namespace(t), "raced", "count", "0")
	ok(t, direct.Create(t.Context(), made))
	stale := made.DeepCopy()
	made.Data["count"] = "1"
	ok(t, direct.Update(t.Context(), made))
	stale.Data["count"] = "2"
	refused(t, direct.Update(t.Context(), stale), apierrors.IsConflict)

	ok(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := direct.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); err != nil {
			return err
		}
		stale.Data["count"] = "2"
		return direct.Update(t.Context(), stale)
	}))
}

func TestAMergePatchWithALockIsRefusedWhereSomebodyElseWrote(t *testing.T) {
	made := configMap(namespace(t), "locked", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	base := made.DeepCopy()
	made.Data["a"] = "2"
	ok(t, direct.Update(t.Context(), made))

	mine := base.DeepCopy()
	mine.Data["b"] = "3"
	locked := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	refused(t, direct.Patch(t.Context(), mine.DeepCopy(), locked), apierrors.IsConflict)
	ok(t, direct.Patch(t.Context(), mine, client.MergeFrom(base)))
	same(t, mine.Data["a"]+mine.Data["b"], "23")
}

func TestAStrategicPatchMergesContainersByName(t *testing.T) {
	made := deployment(namespace(t), "strategic", 1)
	ok(t, direct.Create(t.Context(), made))
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"car"}]}}}}`
	ok(t, direct.Patch(t.Context(), made, client.RawPatch(types.StrategicMergePatchType, []byte(patch))))
	same(t, len(made.Spec.Template.Spec.Containers), 2)
	same(t, made.Generation, 2)
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
	refused(t, direct.Patch(t.Context(), made.DeepCopy(), patch("0")), apierrors.IsInvalid)
	ok(t, direct.Patch(t.Context(), made, patch("1")))
	same(t, made.Data["a"], "2")
}

func TestCreateOrUpdateWritesOnlyWhatChanges(t *testing.T) {
	made := configMap(namespace(t), "either")
	set := func() error { made.Data = map[string]string{"a": "1"}; return nil }
	for _, wanted := range []controllerutil.OperationResult{
		controllerutil.OperationResultCreated, controllerutil.OperationResultNone,
	} {
		result, err := controllerutil.CreateOrUpdate(t.Context(), direct, made, set)
		ok(t, err)
		same(t, result, wanted)
	}
}

func TestADryRunShowsAndKeepsNothing(t *testing.T) {
	place := namespace(t)
	dry := client.NewDryRunClient(direct)
	made := deployment(place, "dry", 1)
	ok(t, dry.Create(t.Context(), made))
	same(t, made.Spec.RevisionHistoryLimit == nil, false)
	refused(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), &appsv1.Deployment{}), apierrors.IsNotFound)

	kept := configMap(place, "kept", "a", "1")
	ok(t, direct.Create(t.Context(), kept))
	changed := kept.DeepCopy()
	changed.Data["a"] = "2"
	ok(t, dry.Update(t.Context(), changed))
	ok(t, dry.Delete(t.Context(), changed))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
	same(t, kept.Data["a"], "1")
}

func TestANameIsMadeUp(t *testing.T) {
	made := configMap(namespace(t), "")
	made.GenerateName = "made-"
	ok(t, direct.Create(t.Context(), made))
	same(t, len(made.Name), len("made-")+5)
}

func TestDeletionHoldsToItsPreconditions(t *testing.T) {
	made := configMap(namespace(t), "precise")
	ok(t, direct.Create(t.Context(), made))
	other := types.UID("somebody-elses")
	refused(t, direct.Delete(t.Context(), made, client.Preconditions{UID: &other}), apierrors.IsConflict)
	ok(t, direct.Delete(t.Context(), made, client.Preconditions{UID: &made.UID}))
}

func TestAllOfSomeAreDeleted(t *testing.T) {
	place := namespace(t)
	for _, name := range []string{"one", "two", "three"} {
		made := configMap(place, name)
		made.Labels = map[string]string{"odd": map[bool]string{true: "yes", false: "no"}[name != "two"]}
		ok(t, direct.Create(t.Context(), made))
	}
	ok(t, direct.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(place), client.MatchingLabels{"odd": "yes"}))
	list := &corev1.ConfigMapList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(place)))
	same(t, len(list.Items), 1)
}

func TestStrictValidationRefusesUnknownFields(t *testing.T) {
	place := namespace(t)
	strict := client.WithFieldValidation(direct, metav1.FieldValidationStrict)
	wrong := boat(place, "strict", map[string]any{"flag": "NL", "sails": int64(3)})
	refused(t, strict.Create(t.Context(), wrong), apierrors.IsBadRequest, `unknown field "spec.sails"`)
	ok(t, direct.Create(t.Context(), wrong))
	same(t, field(t, wrong, "spec", "sails"), nil)
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
