package suite

import (
	"context"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestStructuralDefaultsAreSet(t *testing.T) {
	cargo := []any{map[string]any{"name": "tea"}}
	made := boat(namespace(t), "defaulted", map[string]any{"flag": "NL", "cargo": cargo})
	ok(t, direct.Create(t.Context(), made))
	equal(t, field(t, made, "spec", "rig"), any("sloop"))
	equal(t, field(t, made, "spec", "berths"), any(int64(8)))
	kept := field(t, made, "spec", "cargo").([]any)[0].(map[string]any)
	equal(t, kept["tons"], any(int64(1)))
}

func TestASchemaRejectsInvalidObjects(t *testing.T) {
	ns := namespace(t)
	for name, spec := range map[string]map[string]any{
		`spec.flag in body should match`:      {"flag": "holland"},
		`Unsupported value: "junk"`:           {"flag": "NL", "rig": "junk"},
		`spec.crew in body should be greater`: {"flag": "NL", "crew": int64(-1)},
		`spec.flag: Required value`:           {},
		`spec.crew: Invalid value: "string"`:  {"flag": "NL", "crew": "many"},
		`spec.cargo[1]: Duplicate value`: {"flag": "NL", "cargo": []any{
			map[string]any{"name": "tea"}, map[string]any{"name": "tea"},
		}},
	} {
		rejected(t, direct.Create(t.Context(), boat(ns, "unfit", spec)), apierrors.IsInvalid, name)
	}
}

func TestRulesAreCheckedOnCreate(t *testing.T) {
	crowded := boat(namespace(t), "crowded", map[string]any{"flag": "NL", "crew": int64(9)})
	err := direct.Create(t.Context(), crowded)
	rejected(t, err, apierrors.IsInvalid, "there are fewer berths than crew")
}

func TestTransitionRulesCompareWithTheOldObject(t *testing.T) {
	made := boat(namespace(t), "turncoat", map[string]any{"flag": "NL"})
	ok(t, direct.Create(t.Context(), made))
	ok(t, unstructured.SetNestedField(made.Object, "BE", "spec", "flag"))
	err := direct.Update(t.Context(), made)
	rejected(t, err, apierrors.IsInvalid, "spec.flag", "a boat keeps its flag")
}

func TestARuleCanComputeItsMessage(t *testing.T) {
	flying := boat(namespace(t), "flying", map[string]any{"flag": "NL", "draft": "-1"})
	err := direct.Create(t.Context(), flying)
	rejected(t, err, apierrors.IsInvalid, "no boat has a draft of -1")
}

func TestAClusterScopedKindHasNoNamespace(t *testing.T) {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"any": "thing"}}}
	made.SetGroupVersionKind(charts)
	made.SetGenerateName("chart-")
	ok(t, direct.Create(t.Context(), made))
	equal(t, made.GetNamespace(), "")
	equal(t, field(t, made, "spec", "any"), any("thing"))
	ok(t, direct.Delete(t.Context(), made))
}

func TestADeprecatedVersionWarns(t *testing.T) {
	warnings := &warningRecorder{}
	mine := rest.CopyConfig(config)
	mine.WarningHandlerWithContext = warnings
	c, err := client.New(mine, client.Options{Scheme: scheme.Scheme})
	ok(t, err)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: charts.Group, Version: "v1beta1", Kind: "ChartList"})
	ok(t, c.List(t.Context(), list))
	equal(t, len(warnings.texts), 1)
	equal(t, warnings.texts[0], "charts of v1beta1 are out of date")
}

type warningRecorder struct{ texts []string }

func (r *warningRecorder) HandleWarningHeaderWithContext(_ context.Context, _ int, _ string, text string) {
	r.texts = append(r.texts, text)
}

func TestDefinitionsAreInstalledAndUninstalled(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "buoys.harbor.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "harbor.example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Buoy", ListKind: "BuoyList", Plural: "buoys", Singular: "buoy"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	installing := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}}
	installed, err := envtest.InstallCRDs(config, installing)
	ok(t, err)
	equal(t, len(installed), 1)
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(schema.GroupVersionKind{Group: charts.Group, Version: "v1", Kind: "Buoy"})
	made.SetNamespace(namespace(t))
	made.SetName("red")
	fresh, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	ok(t, err)
	ok(t, fresh.Create(t.Context(), made))

	ok(t, envtest.UninstallCRDs(config, installing))
	eventually(t, "no buoys any more", func(ctx context.Context) (bool, error) {
		fresh, err := client.New(config, client.Options{Scheme: scheme.Scheme})
		if err != nil {
			return false, err
		}
		err = fresh.Get(ctx, client.ObjectKeyFromObject(made), made)
		return meta.IsNoMatchError(err) || apierrors.IsNotFound(err), nil
	})
}

func TestAnInvalidDefinitionIsRejected(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "wrong"}}
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}})
	rejected(t, unwrapped(err), apierrors.IsInvalid, "metadata.name", "spec.group: Required value")
}

func unwrapped(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

func TestDiscoveryListsCustomAndBuiltInKinds(t *testing.T) {
	discoveryClient := discovery.NewDiscoveryClientForConfigOrDie(config)
	version, err := discoveryClient.ServerVersion()
	ok(t, err)
	equal(t, version.Major+"."+version.Minor, "1.36")
	resources, err := discoveryClient.ServerResourcesForGroupVersion("harbor.example.com/v1")
	ok(t, err)
	names := map[string]metav1.APIResource{}
	for _, each := range resources.APIResources {
		names[each.Name] = each
	}
	equal(t, names["boats"].Namespaced, true)
	equal(t, names["charts"].Namespaced, false)
	equal(t, names["boats"].ShortNames[0], "bt")
	equal(t, names["boats"].Categories[0], "vessels")
	equal(t, names["boats/scale"].Kind, "Scale")
	_, all, err := discoveryClient.ServerGroupsAndResources()
	ok(t, err)
	equal(t, len(all) > 20, true)
}

func TestTheSchemaOfACustomKindIsPublished(t *testing.T) {
	openAPIClient := discovery.NewDiscoveryClientForConfigOrDie(config).OpenAPIV3()
	paths, err := openAPIClient.Paths()
	ok(t, err)
	document, err := paths["apis/harbor.example.com/v1"].Schema("application/json")
	ok(t, err)
	equal(t, len(document) > 1000, true)
}

func TestACustomKindIsMapped(t *testing.T) {
	mapping, err := direct.RESTMapper().RESTMapping(boats.GroupKind())
	ok(t, err)
	equal(t, mapping.Resource.Resource, "boats")
	equal(t, mapping.Scope.Name(), meta.RESTScopeNameNamespace)
	_, err = direct.RESTMapper().RESTMapping(schema.GroupKind{Group: "harbor.example.com", Kind: "Ghost"})
	rejected(t, err, meta.IsNoMatchError)
}
