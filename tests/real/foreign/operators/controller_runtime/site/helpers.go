package site

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Zone is the namespace of all records, whatever the namespace of a Site.
const Zone = "zone"

func recordOf(site *Site) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: Zone, Name: site.Namespace + "." + site.Name},
	}
}

func digest(config *corev1.ConfigMap) string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(config.Data)) {
		fmt.Fprintf(sum, "%q=%q,", key, config.Data[key])
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func isReady(deployment *appsv1.Deployment) bool {
	wanted, status := *deployment.Spec.Replicas, deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.Replicas == wanted &&
		status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted
}
