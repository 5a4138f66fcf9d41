"""Words for requests: some are valid, and many are not."""

USERS = ("alice", "bob", "system:serviceaccount:default:a", "system:anonymous", "admin")
GROUPS = ("dev", "system:masters", "system:authenticated", "system:serviceaccounts")
METHODS = (
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "get",
    "X",
)
ACCEPTED = (
    "application/yaml",
    "*/*",
    "application/*",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf, application/json",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,*/*",
    "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "text/html;q=x,;=,",
    "application/json;q=-1;q=inf",
)
PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
PLACES = (
    "/",
    "",
    "/api",
    "/apis",
    "/api/v1",
    "/apis/apps",
    "/apis/apps/v1",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/apis/apps/v1",
    "/version",
    "/healthz",
    "/readyz",
    "/livez",
    "/metrics",
    "/logs",
    "/api/v1/namespaces/default/pods/a/proxy/x/../y",
    "/api//v1///namespaces//default/pods",
    "/api/v1/namespaces/../secrets",
    "/api/v1/watch/pods",
    "/apis/fuzz.example.com",
    "/openapi/v3/apis/fuzz.example.com/v1",
    "/.well-known/openid-configuration",
    "/openid/v1/jwks",
)
SELECTORS = (
    "a=b",
    "a!=b",
    "a in (b,web)",
    "a notin (b)",
    "!a",
    "a",
    "a>1",
    "a<x",
    "a in (",
    "==",
    ",,",
    "a in ()",
    "app.kubernetes.io/name=web,x==y",
    "metadata.name=a",
    "metadata.namespace!=default",
    "spec.nodeName=",
    "status.phase=Running,metadata.name=web",
    "spec.color=web",
    "type=Normal",
    "a\\=b=c\\,d",
)
# Each letter expands to eight of the one before it.
_BOMB = b"a: &a [1,1,1,1,1,1,1,1]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 8))
    for letter in range(ord("b"), ord("m"))
)
YAML_TRAPS = (
    _BOMB,
    b"metadata: &m {name: a, labels: {a: b}}\nkind: ConfigMap\napiVersion: v1\ndata: &d {a: b}\n",
    b"kind: ConfigMap\napiVersion: v1\nmetadata: &m\n  name: yaml\n  labels: &l {a: b}\n"
    b"  annotations: *l\ndata: *l\n",
    b"&a [*a]",
    b"<<: [1]",
    b"<<: {kind: ConfigMap}\napiVersion: v1\nmetadata: {name: x, name: y}\n",
    b"? [a]\n: b",
    b"!!python/object/apply:os.getcwd []",
    b"!!binary x",
    b"kind: !!int ConfigMap",
    b"a: 0o17\nb: 1_0\nc: .inf\nd: 2026-01-01\ne: 0x_\nf: 1:2:3\ng: +.e1\n",
    b"---\n---\n...\n",
    b"%YAML 9.9\n---\na",
    b"\xff\xfe\x00a",
    b"\ta: b",
    b"[" * 5000,
    b"a: " * 3000,
    b"- " * 3000,
    b'"\\uD800"',
    b"'\x00'",
    b"? ? ? ? a",
)
