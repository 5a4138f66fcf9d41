package suite

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "harbor.example.com/scuttle"

func newManager(t *testing.T, ns string, options manager.Options) manager.Manager {
	t.Helper()
	options.Scheme = scheme.Scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	if ns != "" {
		options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}}
	}
	made, err := manager.New(config, options)
	ok(t, err)
	return made
}

func start(t *testing.T, m manager.Manager) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() { cancel(); <-ended }
}

// addBoatController adds a controller that creates a Deployment for every Boat, with one replica for
// each member of the crew.
func addBoatController(t *testing.T, m manager.Manager) {
	t.Helper()
	watched := &unstructured.Unstructured{}
	watched.SetGroupVersionKind(boats)
	ok(t, ctrl.NewControllerManagedBy(m).For(watched).Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{SkipNameValidation: ptr.To(true)}).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			c := m.GetClient()
			found := boat(request.Namespace, request.Name, nil)
			if err := c.Get(ctx, request.NamespacedName, found); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if found.GetDeletionTimestamp() != nil {
				before := found.DeepCopy()
				controllerutil.RemoveFinalizer(found, finalizer)
				return reconcile.Result{}, client.IgnoreNotFound(c.Patch(ctx, found, client.MergeFrom(before)))
			}
			if controllerutil.AddFinalizer(found, finalizer) {
				return reconcile.Result{}, c.Update(ctx, found)
			}
			crew, _, _ := unstructured.NestedInt64(found.Object, "spec", "crew")
			made := deployment(request.Namespace, request.Name, 0)
			_, err := controllerutil.CreateOrUpdate(ctx, c, made, func() error {
				wanted := deployment(request.Namespace, request.Name, int32(crew))
				if made.CreationTimestamp.IsZero() {
					made.Spec = wanted.Spec
				}
				made.Spec.Replicas = wanted.Spec.Replicas
				return controllerutil.SetControllerReference(found, made, scheme.Scheme)
			})
			if err != nil {
				return reconcile.Result{}, err
			}
			before := found.DeepCopy()
			_ = unstructured.SetNestedField(found.Object, crew, "status", "aboard")
			return reconcile.Result{}, c.Status().Patch(ctx, found, client.MergeFrom(before))
		})))
}

func TestAControllerCreatesOwnedObjectsAndUpdatesTheStatus(t *testing.T) {
	ns := namespace(t)
	m := newManager(t, ns, manager.Options{})
	addBoatController(t, m)
	defer start(t, m)()
	made := boat(ns, "steered", map[string]any{"flag": "NL", "crew": int64(2)})
	ok(t, direct.Create(t.Context(), made))
	owned := deployment(ns, "steered", 0)
	eventually(t, "there is a deployment", func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, client.ObjectKeyFromObject(owned), owned)
		return err == nil && *owned.Spec.Replicas == 2, client.IgnoreNotFound(err)
	})
	equal(t, metav1.IsControlledBy(owned, made), true)

	ok(t, direct.Delete(t.Context(), owned))
	eventually(t, "the deployment is back", func(ctx context.Context) (bool, error) {
		again := deployment(ns, "steered", 0)
		err := direct.Get(ctx, client.ObjectKeyFromObject(owned), again)
		return err == nil && again.UID != owned.UID, client.IgnoreNotFound(err)
	})
	eventually(t, "the status is written", func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, client.ObjectKeyFromObject(made), made)
		aboard, _, _ := unstructured.NestedInt64(made.Object, "status", "aboard")
		return aboard == 2, err
	})
}

func TestAFinalizerKeepsAnObjectUntilItIsRemoved(t *testing.T) {
	ns := namespace(t)
	made := boat(ns, "held", map[string]any{"flag": "NL"})
	made.SetFinalizers([]string{finalizer})
	ok(t, direct.Create(t.Context(), made))
	ok(t, direct.Delete(t.Context(), made))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	equal(t, made.GetDeletionTimestamp() == nil, false)
	more := made.DeepCopy()
	more.SetFinalizers(append(more.GetFinalizers(), "harbor.example.com/late"))
	rejected(t, direct.Update(t.Context(), more), apierrors.IsInvalid, "no new finalizers can be added if the object is being deleted")

	m := newManager(t, ns, manager.Options{})
	addBoatController(t, m)
	defer start(t, m)()
	gone(t, made)
}

func TestOneOfTwoManagersLeads(t *testing.T) {
	ns := namespace(t)
	options := manager.Options{
		LeaderElection:                true,
		LeaderElectionID:              "harbor-master",
		LeaderElectionNamespace:       ns,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(5 * time.Second),
		RenewDeadline:                 ptr.To(3 * time.Second),
		RetryPeriod:                   ptr.To(200 * time.Millisecond),
	}
	first := newManager(t, ns, options)
	endFirst := start(t, first)
	<-first.Elected()
	second := newManager(t, ns, options)
	endSecond := start(t, second)
	defer endSecond()
	lease := &coordinationv1.Lease{}
	ok(t, direct.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "harbor-master"}, lease))
	holder := *lease.Spec.HolderIdentity
	endFirst()
	<-second.Elected()
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	equal(t, *lease.Spec.HolderIdentity == holder, false)
	equal(t, *lease.Spec.LeaseTransitions, 1)
}

func TestAnEventIsRecorded(t *testing.T) {
	ns := namespace(t)
	m := newManager(t, ns, manager.Options{})
	defer start(t, m)()
	about := configMap(ns, "eventful")
	ok(t, direct.Create(t.Context(), about))
	about.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	m.GetEventRecorder("harbor").Eventf(about, nil, corev1.EventTypeNormal, "Launched", "Launch", "launched %s", about.Name)
	list := &eventsv1.EventList{}
	eventually(t, "the event is there", func(ctx context.Context) (bool, error) {
		return len(list.Items) == 1, direct.List(ctx, list, client.InNamespace(ns))
	})
	equal(t, list.Items[0].Note, "launched eventful")
	equal(t, list.Items[0].Regarding.UID, about.UID)
	old := &corev1.EventList{}
	ok(t, direct.List(t.Context(), old, client.InNamespace(ns), client.MatchingFields{"reason": "Launched"}))
	equal(t, len(old.Items), 1)
}

func TestATerminatingNamespaceRejectsNewObjects(t *testing.T) {
	ns := namespace(t)
	ok(t, direct.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))
	err := direct.Create(t.Context(), configMap(ns, "late"))
	rejected(t, err, func(err error) bool { return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) })
}
