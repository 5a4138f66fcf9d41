// Package site runs an image as a Deployment, restarts it when its ConfigMap changes, and keeps a
// record of it in a zone.
package site

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	schemeBuilder = &scheme.Builder{
		GroupVersion: schema.GroupVersion{Group: "web.example.com", Version: "v1"},
	}

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = schemeBuilder.Register(&Site{}, &SiteList{}).AddToScheme
)

// SiteSpec is the desired state of a Site.
type SiteSpec struct {
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	Replicas int32 `json:"replicas"`

	// Config is the ConfigMap from which its environment is made.
	Config string `json:"config"`
}

// SiteStatus is the observed state of a Site.
type SiteStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Site is an image kept running, with its environment from a ConfigMap.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of Sites.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}
