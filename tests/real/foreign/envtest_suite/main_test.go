// Package suite is a typical test suite of an operator: controller-runtime's envtest, a client, a
// cache and a manager. It does not depend on which kube-apiserver it uses.
package suite

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const timeout = 20 * time.Second

var (
	environment *envtest.Environment
	config      *rest.Config
	direct      client.WithWatch
	clientset   *kubernetes.Clientset

	boats  = schema.GroupVersionKind{Group: "harbor.example.com", Version: "v1", Kind: "Boat"}
	charts = schema.GroupVersionKind{Group: "harbor.example.com", Version: "v1", Kind: "Chart"}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(true)))
	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{"crds"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: webhooks(),
	}
	var err error
	if config, err = environment.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := func() { _ = environment.Stop() }
	defer func() { stop() }()
	if direct, err = client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	clientset = kubernetes.NewForConfigOrDie(config)
	ended, err := serveWebhooks(environment)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	// The server first: the webhooks wait for its connections to close.
	stop()
	stop = ended
	return code
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rejected(t *testing.T, err error, is func(error) bool, words ...string) {
	t.Helper()
	if !is(err) {
		t.Fatalf("unexpected error: %v", err)
	}
	for _, each := range words {
		if !strings.Contains(err.Error(), each) {
			t.Fatalf("%q is not in %q", each, err)
		}
	}
}

func equal[T comparable](t *testing.T, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Fatalf("got %v, not %v", got, wanted)
	}
}

func eventually(t *testing.T, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	ends := time.Now().Add(timeout)
	var last error
	for time.Now().Before(ends) {
		done, err := is(t.Context())
		if done && err == nil {
			return
		}
		last = err
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never: %s (%v)", what, last)
}

func gone(t *testing.T, obj client.Object) {
	t.Helper()
	eventually(t, obj.GetName()+" is gone", func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// namespace creates a namespace for the test.
func namespace(t *testing.T, labels ...string) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
	if len(labels) > 0 {
		made.Labels = map[string]string{labels[0]: labels[1]}
	}
	ok(t, direct.Create(t.Context(), made))
	return made.Name
}

func configMap(namespace, name string, data ...string) *corev1.ConfigMap {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for i := 0; i+1 < len(data); i += 2 {
		if made.Data == nil {
			made.Data = map[string]string{}
		}
		made.Data[data[i]] = data[i+1]
	}
	return made
}

func boat(namespace, name string, spec map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	made.SetGroupVersionKind(boats)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

func field(t *testing.T, obj *unstructured.Unstructured, path ...string) any {
	t.Helper()
	found, _, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
	ok(t, err)
	return found
}

func pod(namespace, name string, labels ...string) *corev1.Pod {
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
	if len(labels) > 0 {
		made.Labels = map[string]string{labels[0]: labels[1]}
	}
	return made
}
