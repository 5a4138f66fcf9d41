package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const hooked = "harbor.example.com/hooked"

func webhooks() envtest.WebhookInstallOptions {
	configMaps := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	creations := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       configMaps[0].Rule,
	}}
	at := func(path string) admissionv1.WebhookClientConfig {
		service := &admissionv1.ServiceReference{Name: "hook", Namespace: "default", Path: ptr.To(path)}
		return admissionv1.WebhookClientConfig{Service: service}
	}
	only := &metav1.LabelSelector{MatchLabels: map[string]string{hooked: "yes"}}
	none, fail := ptr.To(admissionv1.SideEffectClassNone), ptr.To(admissionv1.Fail)
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "mutating"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: "stamp.harbor.example.com", ClientConfig: at("/stamp"), Rules: creations, NamespaceSelector: only,
				SideEffects: none, FailurePolicy: fail, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "validating"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "inspect.harbor.example.com", ClientConfig: at("/inspect"), Rules: configMaps, NamespaceSelector: only,
				SideEffects: none, FailurePolicy: fail, AdmissionReviewVersions: []string{"v1"},
				MatchConditions: []admissionv1.MatchCondition{{Name: "not-exempt", Expression: "request.name != 'exempt'"}},
			}, {
				Name: "absent.harbor.example.com", ClientConfig: at("/absent"), Rules: creations, NamespaceSelector: only,
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"absent": "yes"}},
				SideEffects:    none, FailurePolicy: ptr.To(admissionv1.Ignore), AdmissionReviewVersions: []string{"v1"},
			}, {
				Name: "broken.harbor.example.com", ClientConfig: at("/broken"), Rules: creations, NamespaceSelector: only,
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"broken": "yes"}},
				SideEffects:    none, FailurePolicy: fail, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
}

func serveWebhooks(environment *envtest.Environment) (end func(), err error) {
	where := environment.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{Host: where.LocalServingHost, Port: where.LocalServingPort, CertDir: where.LocalServingCertDir})
	server.Register("/stamp", &webhook.Admission{Handler: admission.HandlerFunc(stamp)})
	server.Register("/inspect", &webhook.Admission{Handler: admission.HandlerFunc(inspect)})
	server.Register("/convert", http.HandlerFunc(convert))
	server.Register("/broken", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	for ends := time.Now().Add(timeout); server.StartedChecker()(nil) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(ends) {
			cancel()
			return nil, errors.New("the webhooks are never served")
		}
	}
	return func() { cancel(); <-ended }, nil
}

func stamp(_ context.Context, request admission.Request) admission.Response {
	var obj map[string]any
	if err := json.Unmarshal(request.Object.Raw, &obj); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	data, _ := obj["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	data["stamped"] = request.UserInfo.Username
	obj["data"] = data
	raw, _ := json.Marshal(obj)
	return admission.PatchResponseFromRaw(request.Object.Raw, raw)
}

func inspect(_ context.Context, request admission.Request) admission.Response {
	raw := request.Object.Raw
	if request.Operation == "DELETE" {
		raw = request.OldObject.Raw
	}
	var obj struct{ Data map[string]string }
	if err := json.Unmarshal(raw, &obj); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	switch {
	case obj.Data["forbid"] == string(request.Operation):
		return admission.Denied("the inspector forbids it")
	case obj.Data["warn"] != "":
		return admission.Allowed("").WithWarnings(obj.Data["warn"])
	}
	return admission.Allowed("")
}

func TestAWebhookMutatesNewObjects(t *testing.T) {
	made := configMap(namespace(t, hooked, "yes"), "stamped", "a", "1")
	ok(t, direct.Create(t.Context(), made))
	equal(t, made.Data["stamped"], "admin")
	equal(t, made.Data["a"], "1")
}

func TestAWebhookIsCalledOnlyForSelectedNamespaces(t *testing.T) {
	made := configMap(namespace(t), "plain", "forbid", "CREATE")
	ok(t, direct.Create(t.Context(), made))
	equal(t, made.Data["stamped"], "")
}

func TestAWebhookDeniesEachOperation(t *testing.T) {
	ns := namespace(t, hooked, "yes")
	err := direct.Create(t.Context(), configMap(ns, "new", "forbid", "CREATE"))
	rejected(t, err, apierrors.IsForbidden, `admission webhook "inspect.harbor.example.com" denied the request: the inspector forbids it`)

	made := configMap(ns, "kept", "forbid", "DELETE")
	ok(t, direct.Create(t.Context(), made))
	rejected(t, direct.Delete(t.Context(), made), apierrors.IsForbidden, "the inspector forbids it")
	made.Data["forbid"] = "UPDATE"
	rejected(t, direct.Update(t.Context(), made), apierrors.IsForbidden, "the inspector forbids it")
}

func TestAMatchConditionExemptsAnObject(t *testing.T) {
	ok(t, direct.Create(t.Context(), configMap(namespace(t, hooked, "yes"), "exempt", "forbid", "CREATE")))
}

func TestAWebhookReturnsAWarning(t *testing.T) {
	warnings := &warningRecorder{}
	mine := *config
	mine.WarningHandlerWithContext = warnings
	made := configMap(namespace(t, hooked, "yes"), "warned", "warn", "there is weather")
	ok(t, as(t, &mine).Create(t.Context(), made))
	equal(t, strings.Join(warnings.texts, ";"), "there is weather")
}

func TestTheFailurePolicyDecidesAboutAFailingWebhook(t *testing.T) {
	ns := namespace(t, hooked, "yes")
	ignored := configMap(ns, "ignored")
	ignored.Labels = map[string]string{"absent": "yes"}
	ok(t, direct.Create(t.Context(), ignored))
	failed := configMap(ns, "failed")
	failed.Labels = map[string]string{"broken": "yes"}
	rejected(t, direct.Create(t.Context(), failed), apierrors.IsInternalError, `failed calling webhook "broken.harbor.example.com"`)
}

func TestAWebhookIsCalledInADryRun(t *testing.T) {
	ns := namespace(t, hooked, "yes")
	dry := client.NewDryRunClient(direct)
	made := configMap(ns, "dry")
	ok(t, dry.Create(t.Context(), made))
	equal(t, made.Data["stamped"], "admin")
	rejected(t, dry.Create(t.Context(), configMap(ns, "no", "forbid", "CREATE")), apierrors.IsForbidden)
}

// convert renames the field "length" of v1 to "size" of v2, and back.
func convert(w http.ResponseWriter, r *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, each := range review.Request.Objects {
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(each.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from, to := "length", "size"
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
			from, to = to, from
		}
		if value, found, _ := unstructured.NestedInt64(obj.Object, "spec", from); found {
			unstructured.RemoveNestedField(obj.Object, "spec", from)
			_ = unstructured.SetNestedField(obj.Object, value, "spec", to)
		}
		obj.SetAPIVersion(review.Request.DesiredAPIVersion)
		raw, _ := obj.MarshalJSON()
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: raw})
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func TestAWebhookConvertsBetweenVersions(t *testing.T) {
	where := environment.WebhookInstallOptions
	url := fmt.Sprintf("https://%s/convert", net.JoinHostPort(where.LocalServingHost, strconv.Itoa(where.LocalServingPort)))
	version := func(name, property string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{property: {Type: "integer"}}}
		whole := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: whole},
		}
	}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ropes.harbor.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "harbor.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Rope", ListKind: "RopeList", Plural: "ropes", Singular: "rope"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", "length", true), version("v2", "size", false)},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: where.LocalServingCAData},
				},
			},
		},
	}
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}})
	ok(t, err)
	fresh, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	ok(t, err)
	rope := func(version string) *unstructured.Unstructured {
		made := &unstructured.Unstructured{Object: map[string]any{}}
		made.SetAPIVersion("harbor.example.com/" + version)
		made.SetKind("Rope")
		made.SetName("hawser")
		return made
	}
	old := rope("v1")
	old.SetNamespace(namespace(t))
	old.Object["spec"] = map[string]any{"length": int64(40)}
	ok(t, fresh.Create(t.Context(), old))
	read := rope("v2")
	ok(t, fresh.Get(t.Context(), client.ObjectKeyFromObject(old), read))
	equal(t, field(t, read, "spec", "size"), any(int64(40)))
	equal(t, read.GetUID(), old.GetUID())

	ok(t, unstructured.SetNestedField(read.Object, int64(50), "spec", "size"))
	ok(t, fresh.Update(t.Context(), read))
	ok(t, fresh.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	equal(t, field(t, old, "spec", "length"), any(int64(50)))
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("harbor.example.com/v2")
	list.SetKind("RopeList")
	ok(t, fresh.List(t.Context(), list, client.InNamespace(old.GetNamespace())))
	equal(t, field(t, &list.Items[0], "spec", "size"), any(int64(50)))
}
