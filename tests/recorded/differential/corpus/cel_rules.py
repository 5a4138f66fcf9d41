"""CEL rules: the definitions that may have them, and their effect on objects."""

from collections.abc import Mapping

from tests.recorded.differential.corpus.cel_definitions import (
    DEFINED,
    KEYED,
    RULES,
    SHORT,
    rule,
    ruled,
)
from tests.recorded.differential.corpus.definitions import (
    DEFINITIONS,
    NUMBER,
    a_list,
    an_object,
    define,
    definition,
    version,
)
from tests.recorded.differential.corpus.formulas import FORMULAS, SAMPLE, SCHEMA
from tests.recorded.differential.corpus.kinds import JSON_PATCH, MERGE_PATCH
from tests.recorded.differential.scenario import Json, Request, Scenario

GROUP = "ruled.example.com"


def _definition(plural: str, spec: Json, root: Mapping[str, Json] | None = None) -> Json:
    schema = an_object({"spec": spec, "status": an_object({"count": NUMBER})})
    return definition(
        GROUP,
        plural,
        plural.title().removesuffix("s"),
        version("v1", {**schema, **(root or {})}, subresources={"status": {}}),
    )


def _definitions() -> Scenario:
    path = f"{DEFINITIONS}?dryRun=All"
    at_root = {RULES: [{"rule": "self.metadata.name.startsWith('a') && self.spec.count > 1"}]}
    labels = {RULES: [{"rule": "self.metadata.labels.size() == 1"}]}
    roots = {"at-root": at_root, "metadata-labels": labels}
    return Scenario(
        name="cel/definitions",
        requests=tuple(
            Request(
                name=name,
                method="POST",
                path=path,
                body=_definition("checks", spec, roots.get(name)),
            )
            for name, spec in DEFINED.items()
        ),
    )


MEMBERS = a_list(
    ruled(
        an_object(
            {"name": SHORT, "size": ruled(NUMBER, rule("self >= oldSelf", message="shrinks"))},
            required=["name"],
        ),
        rule("self.name != 'bad'", message="bad member"),
    ),
    maxItems=10,
    **KEYED,
)

# Rules at every level, with all fields.
LAWS = an_object(
    {
        "least": NUMBER,
        "most": NUMBER,
        "kept": ruled(SHORT, rule("self == oldSelf", message="kept is immutable")),
        "forbidden": ruled(
            SHORT, rule("self == 'no'", message=" not this ", reason="FieldValueForbidden")
        ),
        "needed": ruled(
            an_object({"a": NUMBER}),
            rule("has(self.a)", reason="FieldValueRequired", fieldPath=".a", message="give a"),
        ),
        "twice": ruled(
            a_list(SHORT, maxItems=5),
            rule("self.distinct().size() == self.size()", reason="FieldValueDuplicate"),
        ),
        "one": ruled(SHORT, rule("self == 'one'", reason="FieldValueDuplicate")),
        "message": ruled(
            NUMBER, rule("self < 5", messageExpression="'%d is too much'.format([self])")
        ),
        "message-badly": ruled(
            NUMBER,
            rule("self < 5", messageExpression="string(1 / (self - self))", message="fallback"),
        ),
        "message-nothing": ruled(NUMBER, rule("self < 5", messageExpression="' '")),
        "message-lines": ruled(NUMBER, rule("self < 5", messageExpression="'a\\nb'", message="m")),
        # A message can use oldSelf if a rule beside it does, but never as an optional value.
        "message-old": ruled(NUMBER, rule("self < 5", messageExpression="string(oldSelf)")),
        "message-both": ruled(
            NUMBER, rule("self < 5", messageExpression="string(oldSelf)"), "self > 0 || oldSelf > 0"
        ),
        "message-optional": ruled(
            NUMBER,
            rule(
                "self < 5 || oldSelf.orValue(9) == 8",
                optionalOldSelf=True,
                messageExpression="oldSelf.hasValue() ? 'some' : 'none'",
            ),
        ),
        "failing": ruled(an_object({"a": NUMBER, "b": NUMBER}), "self.a < self.b"),
        "dividing": ruled(NUMBER, rule("10 / self > 1", message="ten by self")),
        "port": ruled({"x-kubernetes-int-or-string": True}, "self > 5"),
        "map": {
            "type": "object",
            "maxProperties": 5,
            "additionalProperties": ruled(
                NUMBER, "self > 0", rule("self >= oldSelf", message="shrinks")
            ),
        },
        "members": MEMBERS,
        "tags": ruled(
            a_list(SHORT, maxItems=5, **{"x-kubernetes-list-type": "set"}),
            rule("self == oldSelf", message="tags are kept"),
        ),
        "items": a_list(ruled(SHORT, "self != 'bad'"), maxItems=5),
        "first": ruled(
            NUMBER, rule("oldSelf.hasValue() || self == 1", optionalOldSelf=True, message="begin")
        ),
        "next": ruled(
            NUMBER, rule("self == oldSelf.orValue(0) + 1", optionalOldSelf=True, message="count")
        ),
        "nothing": {**ruled(SHORT, "self == 'x'"), "nullable": True},
        "typed": {"type": "string", "enum": ["a", "b"]},
        "template": ruled(
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
            "self.metadata.name.startsWith('a')",
            "self.kind == 'A'",
        ),
    },
    **{RULES: [{"rule": "!has(self.least) || !has(self.most) || self.least <= self.most"}]},
)

# The specs of new objects.
CREATED: Mapping[str, Json] = {
    "empty": {},
    "least-and-most": {"least": 1, "most": 2},
    "least-beyond-most": {"least": 3, "most": 2},
    "kept": {"kept": "a"},
    "forbidden": {"forbidden": "yes"},
    "needed": {"needed": {}},
    "twice": {"twice": ["a", "a"]},
    "one": {"one": "two"},
    "message": {"message": 7},
    "message-badly": {"message-badly": 7},
    "message-nothing": {"message-nothing": 7},
    "message-lines": {"message-lines": 7},
    "message-old": {"message-old": 7},
    "message-both": {"message-both": 7},
    "message-optional": {"message-optional": 7},
    "failing": {"failing": {"a": 1}},
    "dividing": {"dividing": 0},
    "port-as-text": {"port": "http"},
    "port-as-number": {"port": 3},
    "map": {"map": {"a": 0}},
    "map-of-two": {"map": {"a": 1, "b": -1}},
    "members": {"members": [{"name": "good"}, {"name": "bad"}]},
    "items": {"items": ["good", "bad", "bad"]},
    "first": {"first": 2},
    "next": {"next": 1},
    "next-but-one": {"next": 2},
    "nothing": {"nothing": None},
    "something": {"nothing": "y"},
    "several": {"least": 3, "most": 2},
    "wrong-anyway": {"typed": "c", "message": 7},
    "wrong-type": {"message": "7"},
    "template": {"template": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}},
    "template-of-other": {"template": {"apiVersion": "v1", "kind": "B", "metadata": {"name": "b"}}},
}

GOOD: Json = {
    "least": 1,
    "most": 5,
    "kept": "a",
    "map": {"a": 1, "b": 2},
    "members": [{"name": "a", "size": 1}, {"name": "b", "size": 2}],
    "tags": ["x", "y"],
    "message-old": 1,
    "message-both": 1,
    "message-optional": 1,
    "first": 1,
    "next": 1,
}

# Merge patches of the spec of a valid object, each from the same state.
CHANGED: Mapping[str, Json] = {
    "nothing": {},
    "kept": {"kept": "b"},
    "kept-gone": {"kept": None},
    "message-old": {"message-old": 7},
    "message-both": {"message-both": 7},
    "message-optional": {"message-optional": 7},
    "map-grows": {"map": {"a": 2, "c": 1}},
    "map-shrinks": {"map": {"b": 1}},
    "members-turned": {"members": [{"name": "b", "size": 2}, {"name": "a", "size": 1}]},
    "member-shrinks": {"members": [{"name": "b", "size": 1}, {"name": "a", "size": 1}]},
    "member-new": {"members": [{"name": "c", "size": 0}]},
    "tags-turned": {"tags": ["y", "x"]},
    "tags-changed": {"tags": ["y", "z"]},
    "first": {"first": 3},
    "next": {"next": 2},
    "next-but-one": {"next": 3},
    "least-beyond-most": {"least": 9},
}


def _laws() -> Scenario:
    document = _definition("laws", LAWS)
    path = f"/apis/{GROUP}/v1/namespaces/default/laws"
    merge = {"Content-Type": MERGE_PATCH}

    def law(name: str, spec: Json) -> Json:
        return {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Law",
            "metadata": {"name": name},
            "spec": spec,
        }

    return Scenario(
        name="cel/objects",
        requests=(
            *define(document, path),
            *(
                Request(
                    name=f"create:{name}",
                    method="POST",
                    path=f"{path}?dryRun=All",
                    body=law(name, spec),
                )
                for name, spec in CREATED.items()
            ),
            # The value of "next" must be unique, so that it is inserted later.
            Request(name="good", method="POST", path=path, body=law("good", GOOD)),
            *(
                Request(
                    name=f"change:{name}",
                    method="PATCH",
                    path=f"{path}/good?dryRun=All",
                    headers=merge,
                    body={"spec": {"next": 2, **change}},
                )
                for name, change in CHANGED.items()
            ),
            Request(
                name="status",
                method="PATCH",
                path=f"{path}/good/status",
                headers=merge,
                body={"status": {"count": 1}},
            ),
        ),
    )


def _ratcheting() -> Scenario:
    """Rules are added while existing objects violate them."""
    lax = an_object(
        {
            "a": NUMBER,
            "b": NUMBER,
            "c": SHORT,
            "list": a_list(SHORT, maxItems=5),
            "keyed": a_list(
                an_object({"name": SHORT, "n": NUMBER}, required=["name"]), maxItems=5, **KEYED
            ),
            "map": {"type": "object", "maxProperties": 5, "additionalProperties": NUMBER},
        }
    )
    few = rule("self < 5", message="too many")
    strict = an_object(
        {
            "a": ruled(NUMBER, few),
            "b": NUMBER,
            "c": ruled(NUMBER, "self > oldSelf"),
            "list": a_list(ruled(SHORT, "self != 'bad'"), maxItems=5),
            "keyed": a_list(
                ruled(
                    an_object({"name": SHORT, "n": ruled(NUMBER, few)}, required=["name"]),
                    "self.name != 'bad'",
                ),
                maxItems=5,
                **KEYED,
            ),
            "map": {
                "type": "object",
                "maxProperties": 5,
                "additionalProperties": ruled(NUMBER, few),
            },
        },
        **{RULES: [{"rule": "!has(self.b) || self.b < 100"}]},
    )
    document = _definition("ratchets", lax)
    path = f"/apis/{GROUP}/v1/namespaces/default/ratchets"
    spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
    # Each is invalid in one part only, because the order of the server's checks is not known.
    old: Mapping[str, Json] = {
        "a": {"a": 9, "b": 1},
        "c": {"c": "text"},
        "list": {"list": ["good", "bad"]},
        "keyed": {"keyed": [{"name": "bad"}, {"name": "x", "n": 8}]},
        "map": {"map": {"m": 9}},
    }
    changes: Mapping[str, tuple[str, Json]] = {
        "b": ("a", {"b": 2}),
        "a-still-wrong": ("a", {"a": 8}),
        "a-right": ("a", {"a": 1}),
        "b-wrong": ("a", {"b": 100}),
        "c-was-a-text": ("c", {"c": 3}),
        "list-beside": ("list", {"b": 1}),
        "list-grows": ("list", {"list": ["good", "bad", "more"]}),
        "keyed-beside": ("keyed", {"b": 1}),
        "keyed-turned": ("keyed", {"keyed": [{"name": "x", "n": 8}, {"name": "bad"}]}),
        "keyed-one-changed": ("keyed", {"keyed": [{"name": "bad"}, {"name": "x", "n": 7}]}),
        "keyed-new": ("keyed", {"keyed": [{"name": "bad"}, {"name": "y", "n": 8}]}),
        "map-grows": ("map", {"map": {"n": 1}}),
        "map-grows-wrongly": ("map", {"map": {"n": 9}}),
    }
    merge = {"Content-Type": MERGE_PATCH}

    def ratchet(name: str, spec: Json) -> Json:
        return {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Ratchet",
            "metadata": {"name": name},
            "spec": spec,
        }

    return Scenario(
        name="cel/ratcheting",
        requests=(
            *define(document, path),
            *(
                Request(name=f"old-{name}", method="POST", path=path, body=ratchet(name, spec))
                for name, spec in old.items()
            ),
            Request(
                name="rules",
                method="PATCH",
                path=f"{DEFINITIONS}/{document['metadata']['name']}",
                headers={"Content-Type": JSON_PATCH},
                body=[{"op": "replace", "path": spec, "value": strict}],
            ),
            Request(
                name="refused-now",
                method="POST",
                path=f"{path}?dryRun=All",
                body=ratchet("probe", {"a": 9}),
                until=lambda answer: answer.status == 422,
            ),
            *(
                Request(
                    name=f"change:{name}",
                    method="PATCH",
                    path=f"{path}/{of}?dryRun=All",
                    headers=merge,
                    body={"spec": change},
                )
                for name, (of, change) in changes.items()
            ),
            *(
                Request(
                    name=f"label:{name}",
                    method="PATCH",
                    path=f"{path}/{name}",
                    headers=merge,
                    body={"metadata": {"labels": {"a": "b"}}},
                )
                for name in old
            ),
            *(
                Request(
                    name=f"status:{name}",
                    method="PATCH",
                    path=f"{path}/{name}/status",
                    headers=merge,
                    body={"status": {"count": 1}},
                )
                for name in old
            ),
        ),
    )


def _formulas() -> Scenario:
    """Each property is rejected with a message that contains the value of its expression."""
    names = {f"f{number}": text for number, text in enumerate(FORMULAS)}
    document = _definition(
        "formulas",
        an_object(
            {
                name: ruled(SCHEMA, rule("false", message="failed", messageExpression=text))
                for name, text in names.items()
            }
        ),
    )
    path = f"/apis/{GROUP}/v1/namespaces/default/formulas"
    return Scenario(
        name="cel/formulas",
        requests=(
            *define(document, path),
            *(
                Request(
                    name=f"{name}: {text}",
                    method="POST",
                    path=f"{path}?dryRun=All",
                    body={
                        "apiVersion": f"{GROUP}/v1",
                        "kind": "Formula",
                        "metadata": {"name": "one"},
                        "spec": {name: SAMPLE},
                    },
                )
                for name, text in names.items()
            ),
        ),
    )


def scenarios() -> list[Scenario]:
    """All scenarios about rules in CEL."""
    return [_definitions(), _laws(), _ratcheting(), _formulas()]
