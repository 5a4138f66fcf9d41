// greeter: an operator for Greetings, built from the parts of client-go as its own examples are.
// Built-in kinds it reads and writes in protobuf.
//
// Several replicas may run; the one that holds the Lease acts.
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

	// Short, so that another replica notices soon; still a multiple of what a request takes.
	leaseDuration = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = time.Second
)

func main() {
	namespace := flag.String("namespace", "default", "where the Greetings are")
	identity := flag.String("identity", "greeter", "what this replica is called in the Lease")
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
	// Protobuf and nothing else: an answer in JSON would hide that one in protobuf is missing.
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
