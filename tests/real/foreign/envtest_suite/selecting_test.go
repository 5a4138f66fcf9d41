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
	place := namespace(t)
	for i, name := range []string{"a", "b", "c"} {
		made := pod(place, name, "role", []string{"web", "db", "web"}[i])
		if name == "c" {
			made.Spec.NodeName = "node"
		}
		ok(t, direct.Create(t.Context(), made))
	}
	return place
}

func TestLabelsSelect(t *testing.T) {
	place, list := fleet(t), &corev1.PodList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.MatchingLabels{"role": "web"}))
	same(t, names(list.Items), "a c")
	selector, err := labels.Parse("role notin (web),role")
	ok(t, err)
	ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.MatchingLabelsSelector{Selector: selector}))
	same(t, names(list.Items), "b")
}

func TestFieldsSelect(t *testing.T) {
	place, list := fleet(t), &corev1.PodList{}
	ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.MatchingFields{"spec.nodeName": "node"}))
	same(t, names(list.Items), "c")
	ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.MatchingFields{"metadata.name": "a"}))
	same(t, names(list.Items), "a")
	err := direct.List(t.Context(), list, client.InNamespace(place), client.MatchingFields{"spec.colour": "red"})
	refused(t, err, apierrors.IsBadRequest, "spec.colour")
}

func TestFieldsOfACustomKindSelect(t *testing.T) {
	place := namespace(t)
	for _, flag := range []string{"NL", "BE"} {
		ok(t, direct.Create(t.Context(), boat(place, strings.ToLower(flag), map[string]any{"flag": flag})))
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(boats.GroupVersion().WithKind("BoatList"))
	ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.MatchingFields{"spec.flag": "BE"}))
	same(t, len(list.Items), 1)
	same(t, list.Items[0].GetName(), "be")
}

func TestALongListComesInPages(t *testing.T) {
	place := namespace(t)
	for i := range 7 {
		ok(t, direct.Create(t.Context(), configMap(place, fmt.Sprintf("page-%d", i))))
	}
	var found int
	list := &corev1.ConfigMapList{}
	for pages := 1; ; pages++ {
		ok(t, direct.List(t.Context(), list, client.InNamespace(place), client.Limit(3), client.Continue(list.Continue)))
		found += len(list.Items)
		if list.Continue == "" {
			same(t, pages, 3)
			break
		}
	}
	same(t, found, 7)
}

func TestAWatchTellsWhatHappens(t *testing.T) {
	place := namespace(t)
	watching, err := direct.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(place))
	ok(t, err)
	defer watching.Stop()
	made := configMap(place, "watched", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	made.Data["a"] = "2"
	ok(t, direct.Update(t.Context(), made))
	ok(t, direct.Delete(t.Context(), made))
	for _, wanted := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-watching.ResultChan()
		same(t, event.Type, wanted)
		same(t, event.Object.(*corev1.ConfigMap).Name, "watched")
	}
}

// followed is a cache that is whole, and ends with the test.
func followed(t *testing.T, options cache.Options) cache.Cache {
	t.Helper()
	options.Scheme = scheme.Scheme
	made, err := cache.New(config, options)
	ok(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = made.Start(ctx) }()
	t.Cleanup(func() { end(); <-ended })
	same(t, made.WaitForCacheSync(ctx), true)
	return made
}

func TestACacheFollows(t *testing.T) {
	place := namespace(t)
	made := configMap(place, "followed")
	following := followed(t, cache.Options{DefaultNamespaces: map[string]cache.Config{place: {}}})
	refused(t, following.Get(t.Context(), client.ObjectKeyFromObject(made), made), apierrors.IsNotFound)
	ok(t, direct.Create(t.Context(), made))
	read := &corev1.ConfigMap{}
	soon(t, "the cache has it", func(ctx context.Context) (bool, error) {
		err := following.Get(ctx, client.ObjectKeyFromObject(made), read)
		return err == nil, client.IgnoreNotFound(err)
	})
	same(t, read.ResourceVersion, made.ResourceVersion)
}

func TestACacheHasIndexes(t *testing.T) {
	place := fleet(t)
	following := followed(t, cache.Options{})
	ok(t, following.IndexField(t.Context(), &corev1.Pod{}, "image", func(obj client.Object) []string {
		return []string{obj.(*corev1.Pod).Spec.Containers[0].Image}
	}))
	list := &corev1.PodList{}
	ok(t, following.List(t.Context(), list, client.InNamespace(place), client.MatchingFields{"image": "image"}))
	same(t, len(list.Items), 3)
}

func TestACacheOfMetadataAndOfSomeLabels(t *testing.T) {
	place := fleet(t)
	following := followed(t, cache.Options{DefaultLabelSelector: labels.SelectorFromSet(labels.Set{"role": "web"})})
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	ok(t, following.List(t.Context(), list, client.InNamespace(place)))
	same(t, len(list.Items), 2)
}
