// greeter: an operator for Greetings, built with client-go like the examples of client-go.
// It reads and writes built-in kinds in protobuf.
//
// Several replicas may run; only the leader reconciles.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	workers = 2

	// Short, for a fast takeover; still a multiple of the duration of a request.
	leaseDuration = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = time.Second
)

func main() {
	namespace := flag.String("namespace", "default", "namespace of the Greetings")
	identity := flag.String("identity", "greeter", "identity of this replica in the Lease")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *namespace, *identity); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, namespace, identity string) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil,
	).ClientConfig()
	if err != nil {
		return err
	}
	// Only protobuf: a fallback to JSON would hide missing protobuf support.
	inProtobuf := rest.CopyConfig(config)
	inProtobuf.ContentType = runtime.ContentTypeProtobuf
	inProtobuf.AcceptContentTypes = runtime.ContentTypeProtobuf
	typed, err := kubernetes.NewForConfig(inProtobuf)
	if err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}

	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: typed.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}

	greetings := dynamicinformer.NewFilteredDynamicSharedInformerFactory(untyped, 0, namespace, nil)
	configMaps := informers.NewSharedInformerFactoryWithOptions(
		typed, 0, informers.WithNamespace(namespace),
	)
	controller, err := newController(
		typed, untyped,
		greetings.ForResource(greetingResource), configMaps.Core().V1().ConfigMaps(),
		broadcaster.NewRecorder(scheme.Scheme, "greeter"),
	)
	if err != nil {
		return err
	}

	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "greeter"},
			Client:     typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				log.Printf("%s leads", identity)
				greetings.Start(ctx.Done())
				configMaps.Start(ctx.Done())
				controller.run(ctx, workers)
			},
			OnStoppedLeading: func() { log.Printf("%s no longer leads", identity) },
		},
	})
	return nil
}
