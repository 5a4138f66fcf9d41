package main

import (
	"context"
	"fmt"
	"log"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

const finalizer = "foreign.steersman.dev/client-go"

var (
	greetingKind     = schema.GroupVersionKind{Group: "foreign.steersman.dev", Version: "v1", Kind: "Greeting"}
	greetingResource = greetingKind.GroupVersion().WithResource("greetings")
)

// controller turns Greetings into ConfigMaps, one key of its queue at a time.
type controller struct {
	typed      kubernetes.Interface
	untyped    dynamic.Interface
	greetings  cache.GenericLister
	configMaps corelisters.ConfigMapLister
	synced     []cache.InformerSynced
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]
	recorder   events.EventRecorder
}

func newController(
	typed kubernetes.Interface,
	untyped dynamic.Interface,
	greetings informers.GenericInformer,
	configMaps coreinformers.ConfigMapInformer,
	recorder events.EventRecorder,
) (*controller, error) {
	c := &controller{
		typed:      typed,
		untyped:    untyped,
		greetings:  greetings.Lister(),
		configMaps: configMaps.Lister(),
		synced:     []cache.InformerSynced{greetings.Informer().HasSynced, configMaps.Informer().HasSynced},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
		),
		recorder: recorder,
	}
	if _, err := greetings.Informer().AddEventHandler(handler(c.enqueue)); err != nil {
		return nil, err
	}
	if _, err := configMaps.Informer().AddEventHandler(handler(c.enqueueOwner)); err != nil {
		return nil, err
	}
	return c, nil
}

// handler passes every event to one function: reconcile reads only the current state.
func handler(handle func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, changed any) { handle(changed) },
		DeleteFunc: handle,
	}
}

func (c *controller) enqueue(obj any) {
	name, err := cache.DeletionHandlingObjectToName(obj)
	if err != nil {
		log.Printf("not an object: %v", err)
		return
	}
	c.queue.Add(name)
}

func (c *controller) enqueueOwner(obj any) {
	if tombstone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		obj = tombstone.Obj
	}
	configMap, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return
	}
	if owner := metav1.GetControllerOf(configMap); owner != nil && owner.Kind == greetingKind.Kind {
		c.queue.Add(cache.ObjectName{Namespace: configMap.Namespace, Name: owner.Name})
	}
}

func (c *controller) run(ctx context.Context, workers int) {
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return
	}
	log.Print("caches have synced")
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
}

func (c *controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.reconcile(ctx, key); err != nil {
		log.Printf("%s: %v", key, err)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) error {
	cached, err := c.greetings.ByNamespace(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// Cached objects are shared and must not be changed.
	greeting := cached.(*unstructured.Unstructured).DeepCopy()
	if greeting.GetDeletionTimestamp() != nil {
		return c.finalize(ctx, greeting)
	}
	if !slices.Contains(greeting.GetFinalizers(), finalizer) {
		greeting.SetFinalizers(append(greeting.GetFinalizers(), finalizer))
		greeting, err = c.resource(greeting).Update(ctx, greeting, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
	}
	message := messageOf(greeting)
	if err := c.ensureConfigMap(ctx, greeting, message); err != nil {
		return err
	}
	return c.report(ctx, greeting, message)
}

func messageOf(greeting *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(greeting.Object, "spec", "name")
	end := "."
	if excited, _, _ := unstructured.NestedBool(greeting.Object, "spec", "excited"); excited {
		end = "!"
	}
	return fmt.Sprintf("Hello, %s%s", name, end)
}

func (c *controller) ensureConfigMap(
	ctx context.Context, greeting *unstructured.Unstructured, message string,
) error {
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            greeting.GetName(),
			Namespace:       greeting.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(greeting, greetingKind)},
		},
		Data: map[string]string{"message": message},
	}
	client := c.typed.CoreV1().ConfigMaps(wanted.Namespace)
	found, err := c.configMaps.ConfigMaps(wanted.Namespace).Get(wanted.Name)
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
		return err
	}
	if err != nil || equality.Semantic.DeepEqual(found.Data, wanted.Data) {
		return err
	}
	changed := found.DeepCopy()
	changed.Data = wanted.Data
	_, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

func (c *controller) report(
	ctx context.Context, greeting *unstructured.Unstructured, message string,
) error {
	if current, _, _ := unstructured.NestedString(greeting.Object, "status", "message"); current == message {
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest, err := c.resource(greeting).Get(ctx, greeting.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedField(latest.Object, message, "status", "message"); err != nil {
			return err
		}
		_, err = c.resource(greeting).UpdateStatus(ctx, latest, metav1.UpdateOptions{})
		return err
	})
	if err == nil {
		c.recorder.Eventf(greeting, nil, corev1.EventTypeNormal, "Greeted", "Greet", "said %q", message)
	}
	return err
}

// finalize deletes the ConfigMap itself: without controllers, no garbage collector deletes it.
func (c *controller) finalize(ctx context.Context, greeting *unstructured.Unstructured) error {
	remaining := slices.DeleteFunc(greeting.GetFinalizers(), func(f string) bool { return f == finalizer })
	if len(remaining) == len(greeting.GetFinalizers()) {
		return nil
	}
	err := c.typed.CoreV1().ConfigMaps(greeting.GetNamespace()).
		Delete(ctx, greeting.GetName(), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	greeting.SetFinalizers(remaining)
	_, err = c.resource(greeting).Update(ctx, greeting, metav1.UpdateOptions{})
	return err
}

func (c *controller) resource(greeting *unstructured.Unstructured) dynamic.ResourceInterface {
	return c.untyped.Resource(greetingResource).Namespace(greeting.GetNamespace())
}
