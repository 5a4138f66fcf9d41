"""Authorization: permitted and forbidden requests."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.kinds import builtin_kinds
from tests.recorded.differential.scenario import Json, Request, Scenario, slug

CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
RBAC_GROUP = "rbac.authorization.k8s.io"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about authorization."""
    yield Scenario(name="access/unknown", requests=tuple(_unknown()))
    yield Scenario(name="access/forbidden", requests=tuple(_forbidden()))
    yield _permitted()
    yield _permitted_everywhere()
    yield Scenario(name="access/impersonation", requests=tuple(_impersonation()))
    yield _reviews()
    yield _escalation()


def by(user: str, *groups: str) -> dict[str, str]:
    """The headers that impersonate another user."""
    group = {"Impersonate-Group": groups[0]} if groups else {}
    return {"Impersonate-User": user, **group}


def _unknown() -> Iterator[Request]:
    paths = {
        "configmaps": CONFIG_MAPS.format("default"),
        "api": "/api",
        "version": "/version",
        "healthz": "/healthz",
        "readyz": "/readyz",
        "livez": "/livez",
        "openapi": "/openapi/v3",
        "nowhere": "/nowhere",
    }
    for name, path in paths.items():
        for who, authorization in {
            "missing": "",
            "wrong-token": "Bearer wrong",
            "basic": "Basic YTpi",
            "empty-bearer": "Bearer ",
        }.items():
            headers = {"Authorization": authorization}
            yield Request(name=f"{name}-{who}", method="GET", path=path, headers=headers)


def _forbidden() -> Iterator[Request]:
    jane = by("jane")
    chosen = ("core/v1/configmaps", "apps/v1/deployments", "core/v1/nodes", "core/v1/namespaces")
    for title in chosen:
        kind = builtin_kinds()[title]
        where = "/namespaces/default" if kind.namespaced else ""
        path = f"{kind.root}{where}/{kind.plural}"
        short = kind.plural
        for verb, method, which in (
            ("list", "GET", ""),
            ("watch", "GET", "?watch=true"),
            ("get", "GET", "/one"),
            ("create", "POST", ""),
            ("update", "PUT", "/one"),
            ("patch", "PATCH", "/one"),
            ("delete", "DELETE", "/one"),
            ("deletecollection", "DELETE", ""),
            ("status", "GET", "/one/status"),
        ):
            body: Json = {} if method in ("POST", "PUT", "PATCH") else None
            yield Request(
                name=f"{short}-{verb}",
                method=method,
                path=f"{path}{which}",
                body=body,
                headers=jane,
            )
        yield Request(
            name=f"{short}-everywhere",
            method="GET",
            path=f"{kind.root}/{kind.plural}",
            headers=jane,
        )
    # Not /apis and /openapi/v3, which change with the definitions of other scenarios.
    for path in ("/api", "/version", "/healthz", "/metrics", "/nowhere"):
        name = f"path-{path.strip('/').replace('/', '-')}"
        yield Request(name=name, method="GET", path=path, headers=jane)
    yield Request(
        name="unknown-kind", method="GET", path="/apis/none.example.com/v1/nones", headers=jane
    )


def _role(name: str, rules: Json, **more: Json) -> Json:
    return {
        "apiVersion": f"{RBAC_GROUP}/v1",
        "kind": "Role",
        "metadata": {"name": name},
        "rules": rules,
        **more,
    }


def _binding(name: str, role: Json, *subjects: Json, kind: str = "RoleBinding") -> Json:
    return {
        "apiVersion": f"{RBAC_GROUP}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "roleRef": {
            "apiGroup": RBAC_GROUP,
            "kind": role["kind"],
            "name": role["metadata"]["name"],
        },
        "subjects": list(subjects),
    }


def _user(name: str) -> Json:
    return {"apiGroup": RBAC_GROUP, "kind": "User", "name": name}


def _group(name: str) -> Json:
    return {"apiGroup": RBAC_GROUP, "kind": "Group", "name": name}


def _answered_well(answer: object) -> bool:
    return getattr(answer, "status", 0) != 403


def _permitted() -> Scenario:
    name = "access/permitted"
    here = slug(name)
    maps = CONFIG_MAPS.format(here)
    role = _role(
        "reader",
        [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
            {
                "apiGroups": [""],
                "resources": ["configmaps"],
                "resourceNames": ["mine"],
                "verbs": ["update", "delete"],
            },
            {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["*"]},
        ],
    )
    account = {"kind": "ServiceAccount", "name": "robot", "namespace": here}
    binding = _binding("readers", role, _user("reader"), _group("readers"), account)
    roles = f"{RBAC}/namespaces/{here}"
    mine = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}}
    robot = f"system:serviceaccount:{here}:robot"
    scale = f"/apis/apps/v1/namespaces/{here}/deployments/none/scale"

    def get(name: str, path: str, who: dict[str, str], *, settles: bool = False) -> Request:
        until = _answered_well if settles else None
        return Request(name=name, method="GET", path=path, headers=who, until=until)

    return Scenario(
        name=name,
        namespace=here,
        requests=(
            get("before", maps, by("reader")),
            Request(name="role", method="POST", path=f"{roles}/roles", body=role),
            Request(name="binding", method="POST", path=f"{roles}/rolebindings", body=binding),
            get("list", maps, by("reader"), settles=True),
            get("by-group", maps, by("reader", "readers")),
            get("by-account", maps, by(robot)),
            get("by-other-account", maps, by("system:serviceaccount:default:robot")),
            get("elsewhere", CONFIG_MAPS.format("default"), by("reader")),
            get("everywhere", "/api/v1/configmaps", by("reader")),
            get("watch", f"{maps}?watch=true&timeoutSeconds=1", by("reader")),
            get("secrets", f"/api/v1/namespaces/{here}/secrets", by("reader")),
            get("scale", scale, by("reader")),
            get("not-scaled", scale.removesuffix("/scale"), by("reader")),
            Request(name="create", method="POST", path=maps, body=mine, headers=by("reader")),
            Request(name="mine", method="POST", path=maps, body=mine),
            Request(
                name="update", method="PUT", path=f"{maps}/mine", body=mine, headers=by("reader")
            ),
            Request(
                name="delete-other", method="DELETE", path=f"{maps}/other", headers=by("reader")
            ),
            Request(name="delete", method="DELETE", path=f"{maps}/mine", headers=by("reader")),
        ),
    )


def _permitted_everywhere() -> Scenario:
    name = "access/permitted-everywhere"
    mine = slug(name)
    role = {
        **_role(
            mine,
            [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]},
                {"nonResourceURLs": ["/metrics", "/scenarios/*"], "verbs": ["get"]},
            ],
        ),
        "kind": "ClusterRole",
    }
    binding = _binding(mine, role, _user(mine), kind="ClusterRoleBinding")
    paths = {
        "nodes": "/api/v1/nodes?labelSelector=none%3Dnone",
        "configmaps": "/api/v1/configmaps?labelSelector=none%3Dnone",
        "url": "/scenarios/one",
        "other-url": "/other",
        "get": "/api/v1/namespaces/default",
    }
    return Scenario(
        name=name,
        requests=(
            Request(name="role", method="POST", path=f"{RBAC}/clusterroles", body=role),
            Request(
                name="binding", method="POST", path=f"{RBAC}/clusterrolebindings", body=binding
            ),
            *(
                Request(
                    name=case,
                    method="GET",
                    path=path,
                    headers=by(mine),
                    until=_answered_well if case == "nodes" else None,
                )
                for case, path in paths.items()
            ),
        ),
    )


def _impersonation() -> Iterator[Request]:
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    for name, headers in {
        "oneself": {},
        "user": by("jane"),
        "user-and-group": by("jane", "staff"),
        "uid": {**by("jane"), "Impersonate-Uid": "42"},
        "extra": {**by("jane"), "Impersonate-Extra-Scopes": "read"},
        "escaped-extra": {**by("jane"), "Impersonate-Extra-Example.com%2fscope": "read"},
        "account": by("system:serviceaccount:default:robot"),
        "bad-account": by("system:serviceaccount:robot"),
        "missing": by("system:anonymous"),
        "group-alone": {"Impersonate-Group": "staff"},
        "uid-alone": {"Impersonate-Uid": "42"},
        "empty-user": {"Impersonate-User": " "},
    }.items():
        yield Request(name=name, method="POST", path=review, body=body, headers=headers)
    limited = {"Authorization": "Bearer wrong", **by("jane")}
    yield Request(name="with-wrong-token", method="POST", path=review, body=body, headers=limited)


def _reviews() -> Scenario:
    name = "access/reviews"
    here = slug(name)
    maps = {"namespace": here, "verb": "get", "resource": "configmaps"}
    role = _role("r", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}])
    roles = f"{RBAC}/namespaces/{here}"

    def review(
        case: str, kind: str, spec: Json, *, who: Json = None, local: bool = False
    ) -> Request:
        where = f"/namespaces/{here}" if local else ""
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
        path = f"{REVIEWS}{where}/{kind.lower()}s"
        return Request(name=case, method="POST", path=path, body=body, headers=who or {})

    one, self_ = "SubjectAccessReview", "SelfSubjectAccessReview"
    jane = {"user": slug(name)}
    return Scenario(
        name=name,
        namespace=here,
        requests=(
            Request(name="role", method="POST", path=f"{roles}/roles", body=role),
            Request(
                name="binding",
                method="POST",
                path=f"{roles}/rolebindings",
                body=_binding("r", role, _user(slug(name)), _group(f"{here}-group")),
            ),
            Request(
                name="settled",
                method="GET",
                path=f"{CONFIG_MAPS.format(here)}/none",
                headers=by(slug(name)),
                until=_answered_well,
            ),
            review("self", self_, {"resourceAttributes": maps}),
            review("self-limited", self_, {"resourceAttributes": maps}, who=by("stranger")),
            review("self-permitted", self_, {"resourceAttributes": maps}, who=by(slug(name))),
            review(
                "self-path",
                self_,
                {"nonResourceAttributes": {"path": "/api", "verb": "get"}},
                who=by("stranger"),
            ),
            review("self-nothing", self_, {}),
            review(
                "self-both",
                self_,
                {"resourceAttributes": maps, "nonResourceAttributes": {"path": "/", "verb": "get"}},
            ),
            review("user", one, {**jane, "resourceAttributes": maps}),
            review(
                "user-other-verb", one, {**jane, "resourceAttributes": {**maps, "verb": "list"}}
            ),
            review(
                "user-everything",
                one,
                {**jane, "resourceAttributes": {**maps, "verb": "*", "resource": "*"}},
            ),
            review(
                "user-elsewhere",
                one,
                {**jane, "resourceAttributes": {**maps, "namespace": "default"}},
            ),
            review(
                "user-subresource",
                one,
                {**jane, "resourceAttributes": {**maps, "subresource": "status"}},
            ),
            review(
                "group", one, {"groups": [f"{here}-group"], "user": "x", "resourceAttributes": maps}
            ),
            review(
                "masters",
                one,
                {"groups": ["system:masters"], "user": "x", "resourceAttributes": maps},
            ),
            review("missing", one, {"resourceAttributes": maps}),
            review("nothing", one, jane),
            review(
                "not-allowed-to-ask", one, {**jane, "resourceAttributes": maps}, who=by("stranger")
            ),
            review("local", f"Local{one}", {**jane, "resourceAttributes": maps}, local=True),
            review(
                "local-elsewhere",
                f"Local{one}",
                {**jane, "resourceAttributes": {**maps, "namespace": "default"}},
                local=True,
            ),
            review(
                "local-path",
                f"Local{one}",
                {**jane, "nonResourceAttributes": {"path": "/", "verb": "get"}},
                local=True,
            ),
        ),
    )


def _escalation() -> Scenario:
    name = "access/escalation"
    here = slug(name)
    roles = f"{RBAC}/namespaces/{here}"
    maker = _role(
        "maker",
        [{"apiGroups": [RBAC_GROUP], "resources": ["roles", "rolebindings"], "verbs": ["create"]}],
    )
    more = _role("more", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}])
    who = by(here)
    return Scenario(
        name=name,
        namespace=here,
        requests=(
            Request(name="maker", method="POST", path=f"{roles}/roles", body=maker),
            Request(
                name="binding",
                method="POST",
                path=f"{roles}/rolebindings",
                body=_binding("maker", maker, _user(here)),
            ),
            Request(
                name="more",
                method="POST",
                path=f"{roles}/roles",
                body=more,
                headers=who,
                until=lambda answer: b"is forbidden: user" in answer.body,
            ),
            Request(
                name="no-more",
                method="POST",
                path=f"{roles}/roles",
                body=_role("less", []),
                headers=who,
            ),
            Request(
                name="bind-admin",
                method="POST",
                path=f"{roles}/rolebindings",
                body=_binding(
                    "admin",
                    {"kind": "ClusterRole", "metadata": {"name": "cluster-admin"}},
                    _user(here),
                ),
                headers=who,
            ),
        ),
    )
