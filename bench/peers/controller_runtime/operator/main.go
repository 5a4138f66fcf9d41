// operator: a Deployment, a Service and a status for every AppService, with controller-runtime as
// its documentation and kubebuilder's show.
//
// With -starts, each reconcile's first moment is a line of that file: seconds on the monotonic
// clock, the object's name and its generation. With -sleep-ms, a reconcile does nothing but sleep.
// With -resync, each reconcile asks for another one after so long. With -patch-status, a status is
// patched instead of updated.
package main

import (
	"flag"
	"log"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"steersman.invalid/bench/appservice"
)

var (
	workers = flag.Int("workers", 10, "how many reconcile at once")
	starts  = flag.String("starts", "", "a file for the first moment of each reconcile")
	sleep   = flag.Int("sleep-ms", 0, "do nothing for so long, instead of any work")
	elect   = flag.Bool("leader-elect", false, "act only while the Lease says so")
	patches = flag.Bool("patch-status", false, "write a status whatever else has been written since it was read")
	// Not the cache's SyncPeriod, which its documentation advises against: of the AppServices, the
	// predicate below would let none of it through.
	resync = flag.Duration("resync", 0, "how long after a reconcile there is another one; 0 for never")
)

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, appservice.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	// Not the default port, which may be in use.
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 server.Options{BindAddress: "127.0.0.1:0"},
		LeaderElection:          *elect,
		LeaderElectionID:        "appservice.app.example.com",
		LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	reconciler := &Reconciler{
		Client:  mgr.GetClient(),
		scheme:  scheme,
		sleep:   time.Duration(*sleep) * time.Millisecond,
		resync:  *resync,
		patches: *patches,
	}
	if *starts != "" {
		if reconciler.starts, err = os.Create(*starts); err != nil {
			return err
		}
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&appservice.AppService{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers}).
		Complete(reconciler)
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
