package suite

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func names[T any, P interface {
	*T
	client.Object
}](items []T) string {
	found := make([]string, 0, len(items))
	for i := range items {
		found = append(found, P(&items[i]).GetName())
	}
	return strings.Join(found, " ")
}

func fleet(t *testing.T) string {
	ns := namespace(t)
	for i, name := range []string{"a", "b", "c"} {
		made := pod(ns, name, "role", []string{"web", "db", "web"}[i])
		if name == "c" {
			made.Spec.NodeName = "node"
		}
		ok(t, direct.Create(t.Context(), made))
	}
	return ns
}

func TestLabelsSelectObjects(t *testing.T) {
	ns, list := fleet(t), &corev1.PodList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"role": "web"}))
	equal(t, names(list.Items), "a c")
	selector, err := labels.Parse("role notin (web),role")
	ok(t, err)
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingLabelsSelector{Selector: selector}))
	equal(t, names(list.Items), "b")
}

func TestFieldsSelectObjects(t *testing.T) {
	ns, list := fleet(t), &corev1.PodList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingFields{"spec.nodeName": "node"}))
	equal(t, names(list.Items), "c")
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingFields{"metadata.name": "a"}))
	equal(t, names(list.Items), "a")
	err := direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingFields{"spec.color": "red"})
	rejected(t, err, apierrors.IsBadRequest, "spec.color")
}

func TestFieldsOfACustomKindSelectObjects(t *testing.T) {
	ns := namespace(t)
	for _, flag := range []string{"NL", "BE"} {
		ok(t, direct.Create(t.Context(), boat(ns, strings.ToLower(flag), map[string]any{"flag": flag})))
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(boats.GroupVersion().WithKind("BoatList"))
	ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.MatchingFields{"spec.flag": "BE"}))
	equal(t, len(list.Items), 1)
	equal(t, list.Items[0].GetName(), "be")
}

func TestALongListIsPaginated(t *testing.T) {
	ns := namespace(t)
	for i := range 7 {
		ok(t, direct.Create(t.Context(), configMap(ns, fmt.Sprintf("page-%d", i))))
	}
	var found int
	list := &corev1.ConfigMapList{}
	for pages := 1; ; pages++ {
		ok(t, direct.List(t.Context(), list, client.InNamespace(ns), client.Limit(3), client.Continue(list.Continue)))
		found += len(list.Items)
		if list.Continue == "" {
			equal(t, pages, 3)
			break
		}
	}
	equal(t, found, 7)
}

func TestAWatchSendsEvents(t *testing.T) {
	ns := namespace(t)
	watching, err := direct.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(ns))
	ok(t, err)
	defer watching.Stop()
	made := configMap(ns, "watched", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	made.Data["a"] = "2"
	ok(t, direct.Update(t.Context(), made))
	ok(t, direct.Delete(t.Context(), made))
	for _, wanted := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-watching.ResultChan()
		equal(t, event.Type, wanted)
		equal(t, event.Object.(*corev1.ConfigMap).Name, "watched")
	}
}

// startCache starts a cache, waits until it has synced, and stops it when the test ends.
func startCache(t *testing.T, options cache.Options) cache.Cache {
	t.Helper()
	options.Scheme = scheme.Scheme
	made, err := cache.New(config, options)
	ok(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = made.Start(ctx) }()
	t.Cleanup(func() { end(); <-ended })
	equal(t, made.WaitForCacheSync(ctx), true)
	return made
}

func TestACacheReceivesCreatedObjects(t *testing.T) {
	ns := namespace(t)
	made := configMap(ns, "followed")
	following := startCache(t, cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}})
	rejected(t, following.Get(t.Context(), client.ObjectKeyFromObject(made), made), apierrors.IsNotFound)
	ok(t, direct.Create(t.Context(), made))
	read := &corev1.ConfigMap{}
	eventually(t, "the cache has it", func(ctx context.Context) (bool, error) {
		err := following.Get(ctx, client.ObjectKeyFromObject(made), read)
		return err == nil, client.IgnoreNotFound(err)
	})
	equal(t, read.ResourceVersion, made.ResourceVersion)
}

func TestACacheHasIndexes(t *testing.T) {
	ns := fleet(t)
	following := startCache(t, cache.Options{})
	ok(t, following.IndexField(t.Context(), &corev1.Pod{}, "image", func(obj client.Object) []string {
		return []string{obj.(*corev1.Pod).Spec.Containers[0].Image}
	}))
	list := &corev1.PodList{}
	ok(t, following.List(t.Context(), list, client.InNamespace(ns), client.MatchingFields{"image": "image"}))
	equal(t, len(list.Items), 3)
}

func TestACacheOfMetadataWithALabelSelector(t *testing.T) {
	ns := fleet(t)
	following := startCache(t, cache.Options{DefaultLabelSelector: labels.SelectorFromSet(labels.Set{"role": "web"})})
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	ok(t, following.List(t.Context(), list, client.InNamespace(ns)))
	equal(t, len(list.Items), 2)
}
