package site

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestAChangeOfTheConfigMapRestartsThePods uses etcd and kube-apiserver, which envtest starts.
func TestAChangeOfTheConfigMapRestartsThePods(t *testing.T) {
	c := startOperator(t)
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "look"},
		Data:       map[string]string{"COLOR": "blue"},
	}
	must(t, c.Create(t.Context(), config))
	must(t, c.Create(t.Context(), &Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       SiteSpec{Image: "nginx", Replicas: 2, Config: "look"},
	}))
	before := eventually(t, c, func(digest string) bool { return digest != "" })

	config.Data["COLOR"] = "green"
	must(t, c.Update(t.Context(), config))

	eventually(t, c, func(digest string) bool { return digest != before })
}

// startOperator starts a control plane and the operator, and stops both when the test ends.
func startOperator(t *testing.T) client.Client {
	environment := &envtest.Environment{CRDDirectoryPaths: []string{"crds"}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	must(t, err)
	t.Cleanup(func() { must(t, environment.Stop()) })
	must(t, AddToScheme(clientgoscheme.Scheme))
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: clientgoscheme.Scheme, Metrics: server.Options{BindAddress: "0"},
	})
	must(t, err)
	reconciler := &Reconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("site")}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	must(t, reconciler.SetupWithManager(ctx, mgr))
	go func() { ended <- mgr.Start(ctx) }()
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	must(t, err)
	must(t, c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Zone}}))
	return c
}

// eventually polls the digest on the Deployment's Pods until the condition is true.
func eventually(t *testing.T, c client.Client, is func(digest string) bool) string {
	for ends := time.Now().Add(10 * time.Second); time.Now().Before(ends); time.Sleep(50 * time.Millisecond) {
		var deployment appsv1.Deployment
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, &deployment)
		must(t, client.IgnoreNotFound(err))
		if digest := deployment.Spec.Template.Annotations["web.example.com/config"]; is(digest) {
			return digest
		}
	}
	t.Fatal("timed out")
	return ""
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
