package site

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// SetupWithManager sets up the watches of the reconciler.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	byConfig := func(obj client.Object) []string { return []string{obj.(*Site).Spec.Config} }
	if err := mgr.GetFieldIndexer().IndexField(ctx, &Site{}, "spec.config", byConfig); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&Site{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.sitesUsing)).
		Complete(r)
}

// sitesUsing returns requests for the Sites that use a ConfigMap.
func (r *Reconciler) sitesUsing(ctx context.Context, config client.Object) []ctrl.Request {
	var sites SiteList
	err := r.List(ctx, &sites,
		client.InNamespace(config.GetNamespace()),
		client.MatchingFields{"spec.config": config.GetName()},
	)
	if err != nil {
		return nil
	}
	requests := make([]ctrl.Request, len(sites.Items))
	for i := range sites.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&sites.Items[i])
	}
	return requests
}
