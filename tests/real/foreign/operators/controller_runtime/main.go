// coming-from-go: the operator with controller-runtime on docs/coming-from-go.md.
package main

import (
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"steersman.invalid/coming-from-go/site"
)

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(); err != nil {
		ctrl.Log.Error(err, "the manager stopped")
		os.Exit(1)
	}
}

func run() error {
	ctx := ctrl.SetupSignalHandler()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, site.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		LeaderElection:                true,
		LeaderElectionID:              "site.web.example.com",
		LeaderElectionNamespace:       site.Zone,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "127.0.0.1:0"},
	})
	if err != nil {
		return err
	}
	reconciler := &site.Reconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("site")}
	if err := reconciler.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
