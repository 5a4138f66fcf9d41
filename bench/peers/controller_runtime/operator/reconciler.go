package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"steersman.invalid/bench/appservice"
)

// Reconciler reconciles AppServices.
type Reconciler struct {
	client.Client
	scheme  *runtime.Scheme
	starts  *os.File
	sleep   time.Duration
	resync  time.Duration
	patches bool
}

// Reconcile is called with the name of one that may need it.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	startedAt := monotonic()
	var app appservice.AppService
	if err := r.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.starts != nil {
		fmt.Fprintf(r.starts, "%.6f %s %d\n", startedAt, app.Name, app.Generation)
	}
	if r.sleep > 0 {
		time.Sleep(r.sleep)
		return ctrl.Result{RequeueAfter: r.resync}, nil
	}
	deployment, err := r.deployment(ctx, &app)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.service(ctx, &app); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.status(ctx, &app, deployment); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.resync}, nil
}

func (r *Reconciler) deployment(ctx context.Context, app *appservice.AppService) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Labels = labelsOf(app)
		deployment.Spec.Replicas = &app.Spec.Size
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labelsOf(app)}
		deployment.Spec.Template.Labels = labelsOf(app)
		// Field by field: what the server has added would otherwise be a difference every time.
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
		}
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Name = app.Name
		container.Image = app.Spec.Image
		container.ImagePullPolicy = corev1.PullIfNotPresent
		container.Env = app.Spec.Envs
		container.Ports = targetsOf(app.Spec.Ports)
		container.Resources = corev1.ResourceRequirements{}
		if app.Spec.Resources != nil {
			container.Resources = *app.Spec.Resources
		}
		return controllerutil.SetControllerReference(app, deployment, r.scheme)
	})
	return deployment, err
}

func (r *Reconciler) service(ctx context.Context, app *appservice.AppService) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Labels = labelsOf(app)
		service.Spec.Type = corev1.ServiceTypeNodePort
		service.Spec.Selector = labelsOf(app)
		ports := make([]corev1.ServicePort, len(app.Spec.Ports))
		for i, port := range app.Spec.Ports {
			if port.Protocol == "" {
				port.Protocol = corev1.ProtocolTCP
			}
			if i < len(service.Spec.Ports) && port.NodePort == 0 {
				port.NodePort = service.Spec.Ports[i].NodePort
			}
			ports[i] = port
		}
		service.Spec.Ports = ports
		return controllerutil.SetControllerReference(app, service, r.scheme)
	})
	return err
}

func (r *Reconciler) status(ctx context.Context, app *appservice.AppService, deployment *appsv1.Deployment) error {
	status := statusOf(app, deployment)
	if equality.Semantic.DeepEqual(app.Status, status) {
		return nil
	}
	if !r.patches {
		app.Status = status
		return r.Status().Update(ctx, app)
	}
	var before appservice.AppService
	app.DeepCopyInto(&before)
	app.Status = status
	return r.Status().Patch(ctx, app, client.MergeFrom(&before))
}

// targetsOf are the container's ports to which those of its Service lead, each once. A target that
// is a name stands for the same number as the first of the Service's ports with it.
func targetsOf(ports []corev1.ServicePort) []corev1.ContainerPort {
	type name struct{ name, protocol string }
	type place struct {
		number   int32
		protocol corev1.Protocol
	}
	named, at := map[name]int32{}, map[place]int{}
	var found []corev1.ContainerPort
	for _, port := range ports {
		protocol := cmp.Or(port.Protocol, corev1.ProtocolTCP)
		number := cmp.Or(port.TargetPort.IntVal, port.Port)
		if port.TargetPort.StrVal != "" {
			key := name{port.TargetPort.StrVal, string(protocol)}
			if _, known := named[key]; !known {
				named[key] = port.Port
			}
			number = named[key]
		}
		if i, known := at[place{number, protocol}]; known {
			found[i].Name = cmp.Or(port.TargetPort.StrVal, found[i].Name)
			continue
		}
		at[place{number, protocol}] = len(found)
		found = append(found, corev1.ContainerPort{
			Name: port.TargetPort.StrVal, ContainerPort: number, Protocol: protocol,
		})
	}
	return found
}

// statusOf is the Deployment's status, and whether that is ready; since when, if it was so before.
func statusOf(app *appservice.AppService, deployment *appsv1.Deployment) appservice.AppServiceStatus {
	status := appservice.AppServiceStatus{DeploymentStatus: *deployment.Status.DeepCopy()}
	status.ObservedGeneration = app.Generation
	ready := appsv1.DeploymentCondition{
		Type: "Ready", Status: corev1.ConditionFalse, Reason: "RollingOut", LastTransitionTime: metav1.Now().Rfc3339Copy(),
	}
	if isReady(deployment) {
		ready.Status, ready.Reason = corev1.ConditionTrue, "RolledOut"
	}
	for _, before := range app.Status.Conditions {
		if before.Type == ready.Type && before.Status == ready.Status {
			ready.LastTransitionTime = before.LastTransitionTime
		}
	}
	status.Conditions = append(status.Conditions, ready)
	return status
}

func isReady(deployment *appsv1.Deployment) bool {
	wanted, status := *deployment.Spec.Replicas, deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.Replicas == wanted &&
		status.UpdatedReplicas == wanted && status.ReadyReplicas >= wanted && status.AvailableReplicas >= wanted
}

func labelsOf(app *appservice.AppService) map[string]string {
	return map[string]string{"app.kubernetes.io/name": app.Name}
}

// monotonic is what Python's time.monotonic() says at this moment, in any process.
func monotonic() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return float64(now.Nano()) / 1e9
}
