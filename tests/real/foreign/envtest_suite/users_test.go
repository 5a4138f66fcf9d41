package suite

import (
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func as(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	made, err := client.New(config, client.Options{Scheme: scheme.Scheme, Mapper: direct.RESTMapper()})
	ok(t, err)
	return made
}

func allow(t *testing.T, ns, user string, verbs ...string) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "role"},
		Rules:      []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{""}, Resources: []string{"configmaps"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "binding"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "role"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	ok(t, direct.Create(t.Context(), role))
	ok(t, direct.Create(t.Context(), binding))
}

func TestAUserMayOnlyDoWhatARoleGrants(t *testing.T) {
	ns := namespace(t)
	user, err := environment.AddUser(envtest.User{Name: "sailor", Groups: []string{"crew"}}, nil)
	ok(t, err)
	sailor := as(t, user.Config())
	list := &corev1.ConfigMapList{}
	rejected(t, sailor.List(t.Context(), list, client.InNamespace(ns)), apierrors.IsForbidden, `User "sailor" cannot list resource "configmaps"`)

	allow(t, ns, "sailor", "get", "list")
	ends := time.Now().Add(timeout)
	for sailor.List(t.Context(), list, client.InNamespace(ns)) != nil && time.Now().Before(ends) {
		time.Sleep(10 * time.Millisecond)
	}
	ok(t, sailor.List(t.Context(), list, client.InNamespace(ns)))
	rejected(t, sailor.Create(t.Context(), configMap(ns, "mine")), apierrors.IsForbidden)
	rejected(t, sailor.List(t.Context(), &corev1.SecretList{}, client.InNamespace(ns)), apierrors.IsForbidden)
}

func TestAUserInSystemMastersMayDoEverything(t *testing.T) {
	user, err := environment.AddUser(envtest.User{Name: "boss", Groups: []string{"system:masters"}}, nil)
	ok(t, err)
	ok(t, as(t, user.Config()).List(t.Context(), &corev1.SecretList{}))
	kubeconfig, err := user.KubeConfig()
	ok(t, err)
	equal(t, len(kubeconfig) > 100, true)
}

func TestARequestWithoutCredentialsIsAnonymous(t *testing.T) {
	anonymous := rest.AnonymousClientConfig(config)
	err := as(t, anonymous).List(t.Context(), &corev1.SecretList{})
	rejected(t, err, apierrors.IsForbidden, `User "system:anonymous"`)
	anonymous.BearerToken = "made-up"
	rejected(t, as(t, anonymous).List(t.Context(), &corev1.SecretList{}), apierrors.IsUnauthorized)
}

func TestSelfSubjectReviews(t *testing.T) {
	user, err := environment.AddUser(envtest.User{Name: "viewer", Groups: []string{"curious"}}, nil)
	ok(t, err)
	viewer := as(t, user.Config())
	me := &authenticationv1.SelfSubjectReview{}
	ok(t, viewer.Create(t.Context(), me))
	equal(t, me.Status.UserInfo.Username, "viewer")
	may := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "delete", Resource: "nodes"},
	}}
	ok(t, viewer.Create(t.Context(), may))
	equal(t, may.Status.Allowed, false)
}

func TestAUserCannotGrantPermissionsThatItLacks(t *testing.T) {
	ns := namespace(t)
	user, err := environment.AddUser(envtest.User{Name: "climber"}, nil)
	ok(t, err)
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "roles"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"create"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}}},
	}
	ok(t, direct.Create(t.Context(), role))
	ok(t, direct.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "roles"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "roles"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "climber"}},
	}))
	climber := as(t, user.Config())
	wanted := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "more"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
	}
	var last error
	for ends := time.Now().Add(timeout); time.Now().Before(ends); time.Sleep(10 * time.Millisecond) {
		if last = climber.Create(t.Context(), wanted.DeepCopy()); apierrors.IsForbidden(last) && !apierrors.IsInvalid(last) {
			break
		}
	}
	rejected(t, last, apierrors.IsForbidden)
}

func TestAServiceAccountTokenHasThePermissionsOfItsAccount(t *testing.T) {
	ns := namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "robot"}}
	ok(t, direct.Create(t.Context(), account))
	allow(t, ns, "system:serviceaccount:"+ns+":robot", "list")
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](900)}}
	ok(t, direct.SubResource("token").Create(t.Context(), account, request))
	equal(t, len(request.Status.Token) > 100, true)

	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token}}
	ok(t, direct.Create(t.Context(), review))
	equal(t, review.Status.Authenticated, true)
	equal(t, review.Status.User.Username, "system:serviceaccount:"+ns+":robot")

	robot := rest.AnonymousClientConfig(config)
	robot.BearerToken = request.Status.Token
	var last error
	for ends := time.Now().Add(timeout); time.Now().Before(ends); time.Sleep(10 * time.Millisecond) {
		if last = as(t, robot).List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(ns)); last == nil {
			break
		}
	}
	ok(t, last)
}

func TestImpersonationSetsTheUser(t *testing.T) {
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "other", Groups: []string{"testers"}}
	me := &authenticationv1.SelfSubjectReview{}
	ok(t, as(t, other).Create(t.Context(), me))
	equal(t, me.Status.UserInfo.Username, "other")
}

func TestAPodIsEvictedUnlessABudgetForbidsIt(t *testing.T) {
	ns := namespace(t)
	ok(t, direct.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "budget"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}},
		},
	}))
	kept, let := pod(ns, "kept", "app", "kept"), pod(ns, "let")
	for _, each := range []*corev1.Pod{kept, let} {
		each.Spec.NodeName = "node"
		ok(t, direct.Create(t.Context(), each))
		each.Status.Phase = corev1.PodRunning
		each.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		ok(t, direct.Status().Update(t.Context(), each))
	}
	// Sent once: the client would follow Retry-After and retry for more than a minute.
	err := clientset.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name(kept.Name).SubResource("eviction").
		Body(&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: kept.Name}}).MaxRetries(0).Do(t.Context()).Error()
	rejected(t, err, apierrors.IsTooManyRequests, "disruption budget")
	ok(t, direct.SubResource("eviction").Create(t.Context(), let, &policyv1.Eviction{}))
	ok(t, direct.Get(t.Context(), client.ObjectKeyFromObject(let), let))
	equal(t, let.DeletionTimestamp == nil, false)
}
