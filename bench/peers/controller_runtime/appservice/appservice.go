// Package appservice is the kind that the programs beside it follow.
package appservice

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	schemeBuilder = &scheme.Builder{
		GroupVersion: schema.GroupVersion{Group: "app.example.com", Version: "v1"},
	}

	// AddToScheme makes the kinds below known.
	AddToScheme = schemeBuilder.Register(&AppService{}, &AppServiceList{}).AddToScheme
)

// AppServiceSpec is what is wanted.
type AppServiceSpec struct {
	Image     string                       `json:"image"`
	Size      int32                        `json:"size,omitempty"`
	Ports     []corev1.ServicePort         `json:"ports"`
	Envs      []corev1.EnvVar              `json:"envs,omitempty"`
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// AppServiceStatus is the Deployment's status, inlined.
type AppServiceStatus struct {
	appsv1.DeploymentStatus `json:",inline"`
}

// AppService is an image kept running at a given size, reachable on a port of every node.
type AppService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AppServiceSpec   `json:"spec,omitempty"`
	Status AppServiceStatus `json:"status,omitempty"`
}

// AppServiceList is a list of them.
type AppServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AppService `json:"items"`
}

// DeepCopyInto copies the receiver into out.
func (in *AppServiceSpec) DeepCopyInto(out *AppServiceSpec) {
	*out = *in
	if in.Ports != nil {
		out.Ports = make([]corev1.ServicePort, len(in.Ports))
		for i := range in.Ports {
			in.Ports[i].DeepCopyInto(&out.Ports[i])
		}
	}
	if in.Envs != nil {
		out.Envs = make([]corev1.EnvVar, len(in.Envs))
		for i := range in.Envs {
			in.Envs[i].DeepCopyInto(&out.Envs[i])
		}
	}
	if in.Resources != nil {
		out.Resources = in.Resources.DeepCopy()
	}
}

// DeepCopyInto copies the receiver into out.
func (in *AppService) DeepCopyInto(out *AppService) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
	in.Status.DeploymentStatus.DeepCopyInto(&out.Status.DeploymentStatus)
}

// DeepCopyObject is what makes it a runtime.Object.
func (in *AppService) DeepCopyObject() runtime.Object {
	out := &AppService{}
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject is what makes it a runtime.Object.
func (in *AppServiceList) DeepCopyObject() runtime.Object {
	out := &AppServiceList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	if in.Items != nil {
		out.Items = make([]AppService, len(in.Items))
		for i := range in.Items {
			in.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
	return out
}
