// podwatch: client-go's workqueue example, with an informer, an indexer, event handlers, a
// rate-limited work queue and a worker. It prints changes of the Pods of one namespace.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const retries = 5

type queue = workqueue.TypedRateLimitingInterface[string]

// syncToStdout is the business logic. Retrying is not part of it.
func syncToStdout(key string, pods cache.Indexer) error {
	obj, exists, err := pods.GetByKey(key)
	if err != nil {
		return err
	}
	if !exists {
		fmt.Printf("Pod %s does not exist anymore\n", key)
	} else {
		fmt.Printf("Sync/Add/Update for Pod %s\n", obj.(*corev1.Pod).Name)
	}
	return nil
}

// work syncs one key after the other; a key that fails is retried five times, then dropped.
func work(queue queue, sync func(key string) error) {
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		err := sync(key)
		if err != nil && queue.NumRequeues(key) < retries {
			fmt.Printf("Error syncing Pod %s: %v\n", key, err)
			queue.AddRateLimited(key)
		} else {
			if err != nil {
				fmt.Printf("Dropping Pod %s out of the queue: %v\n", key, err)
			}
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

// watchPods watches the Pods until ctx is done.
func watchPods(ctx context.Context, client kubernetes.Interface, namespace string) error {
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
	queue := workqueue.NewTypedRateLimitingQueue(limiter)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	enqueue := func(obj any) {
		// obj may be a DeletedFinalStateUnknown, if the informer missed the deletion.
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
		DeleteFunc: enqueue,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return ctx.Err()
	}
	go work(queue, func(key string) error { return syncToStdout(key, informer.GetIndexer()) })
	<-ctx.Done()
	queue.ShutDown()
	return nil
}

func main() {
	namespace := flag.String("namespace", corev1.NamespaceDefault, "namespace of the Pods")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		err = watchPods(ctx, kubernetes.NewForConfigOrDie(config), *namespace)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
