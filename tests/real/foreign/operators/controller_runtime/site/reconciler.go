package site

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "web.example.com/site"

// Reconciler reconciles Sites.
type Reconciler struct {
	client.Client
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=web.example.com,resources=sites,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=web.example.com,resources=sites/status,verbs=update
// +kubebuilder:rbac:groups=web.example.com,resources=sites/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings the objects of one Site to their desired state.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var site Site
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, &site)
	}
	if controllerutil.AddFinalizer(&site, finalizer) {
		if err := r.Update(ctx, &site); err != nil {
			return ctrl.Result{}, err
		}
	}

	var config corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKey{Namespace: site.Namespace, Name: site.Spec.Config}, &config)
	if apierrors.IsNotFound(err) {
		note := fmt.Sprintf("There is no ConfigMap %s: create it, or name another.", site.Spec.Config)
		r.Recorder.Eventf(&site, nil, corev1.EventTypeWarning, "ConfigMissing", "Reconcile", "%s", note)
		return ctrl.Result{RequeueAfter: 5 * time.Second},
			r.report(ctx, &site, metav1.ConditionFalse, "ConfigMissing", note)
	}
	if err != nil {
		return ctrl.Result{}, err
	}

	if err := r.record(ctx, &site); err != nil {
		return ctrl.Result{}, err
	}
	deployment, err := r.deployment(ctx, &site, &config)
	if err != nil {
		return ctrl.Result{}, err
	}
	if isReady(deployment) {
		return ctrl.Result{}, r.report(ctx, &site, metav1.ConditionTrue, "RolledOut", "")
	}
	return ctrl.Result{}, r.report(ctx, &site, metav1.ConditionFalse, "RollingOut", "")
}

// finalize deletes the record: it is in another namespace, so the garbage collector would not.
func (r *Reconciler) finalize(ctx context.Context, site *Site) error {
	if !controllerutil.ContainsFinalizer(site, finalizer) {
		return nil
	}
	if err := r.Delete(ctx, recordOf(site)); client.IgnoreNotFound(err) != nil {
		return err
	}
	controllerutil.RemoveFinalizer(site, finalizer)
	return client.IgnoreNotFound(r.Update(ctx, site))
}

// report updates the status, if it has changed.
func (r *Reconciler) report(ctx context.Context, site *Site, ready metav1.ConditionStatus, reason, message string) error {
	before := site.Status
	before.Conditions = append([]metav1.Condition(nil), site.Status.Conditions...)
	site.Status.ObservedGeneration = site.Generation
	meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: ready, Reason: reason, Message: message,
	})
	if equality.Semantic.DeepEqual(before, site.Status) {
		return nil
	}
	return r.Status().Update(ctx, site)
}

// record creates or updates the Site's record in the zone.
func (r *Reconciler) record(ctx context.Context, site *Site) error {
	record := recordOf(site)
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, record, func() error {
		record.Data = map[string]string{"target": site.Name}
		return nil
	})
	return err
}

// deployment creates or updates the Site's Deployment, with the ConfigMap's digest on its Pods.
func (r *Reconciler) deployment(ctx context.Context, site *Site, config *corev1.ConfigMap) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"app.kubernetes.io/name": site.Name}
		deployment.Spec.Replicas = &site.Spec.Replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Annotations = map[string]string{"web.example.com/config": digest(config)}
		// Field by field: otherwise the defaults of kube-apiserver would be a difference each time.
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
		}
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Name = "site"
		container.Image = site.Spec.Image
		container.EnvFrom = []corev1.EnvFromSource{{
			ConfigMapRef: &corev1.ConfigMapEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: config.Name},
			},
		}}
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	})
	return deployment, err
}
