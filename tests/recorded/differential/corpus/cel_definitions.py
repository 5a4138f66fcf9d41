"""Schemas with valid and invalid CEL rules."""

from collections.abc import Mapping

from tests.recorded.differential.corpus.definitions import NUMBER, TEXT, a_list, an_object
from tests.recorded.differential.scenario import Json

RULES = "x-kubernetes-validations"

SHORT: Json = {"type": "string", "maxLength": 20}
NUMBERS: Json = a_list(NUMBER, maxItems=10)
KEYED: Json = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


def ruled(schema: Json, *rules: Json) -> Json:
    """The schema with rules, each as an expression or as an object with all fields."""
    return {**schema, RULES: [{"rule": each} if isinstance(each, str) else each for each in rules]}


def rule(text: str, **more: Json) -> Json:
    """A rule with further fields."""
    return {"rule": text, **more}


PLAIN = an_object(
    {
        "text": SHORT,
        "count": NUMBER,
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "words": a_list(SHORT, maxItems=5),
        "all": a_list(TEXT),
        "map": {"type": "object", "additionalProperties": SHORT, "maxProperties": 5},
        "inner": an_object({"a": NUMBER, "b": NUMBER}),
        "port": {"x-kubernetes-int-or-string": True},
        "moment": {"type": "string", "format": "date-time"},
        "long": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte"},
        "a-b": NUMBER,
        "namespace": TEXT,
        "anything": {"x-kubernetes-preserve-unknown-fields": True},
    }
)

# Schemas of ``spec``, each in its own definition.
DEFINED: Mapping[str, Json] = {
    "fine": ruled(PLAIN, "self.count < 5"),
    "several": ruled(PLAIN, "self.count < 5", "self.text.size() > 0"),
    "syntax": ruled(PLAIN, "self.count <"),
    "syntax-brackets": ruled(PLAIN, "(self.count < 5"),
    "syntax-string": ruled(PLAIN, "self.text == 'a"),
    "syntax-several": ruled(PLAIN, "self.count < < 5 )"),
    "undeclared": ruled(PLAIN, "count < 5"),
    "undeclared-function": ruled(PLAIN, "self.text.shout() == 'A'"),
    "undeclared-several": ruled(PLAIN, "a.b == c(1)"),
    "undefined-field": ruled(PLAIN, "self.nothing == 1"),
    "undefined-inner": ruled(PLAIN, "self.inner.c == 1"),
    "not-seen": ruled(PLAIN, "self.anything == 1"),
    "types-differ": ruled(PLAIN, "self.count == 'a'"),
    "types-compared": ruled(PLAIN, "self.text < 5"),
    "types-added": ruled(PLAIN, "self.text + 5 == 'a'"),
    "types-several": ruled(PLAIN, "self.count == 'a' && self.text == 1"),
    "objects-added": ruled(PLAIN, "self.inner + 1 == 2"),
    "no-boolean": ruled(PLAIN, "self.count"),
    "no-boolean-text": ruled(PLAIN, "'true'"),
    "dyn-is-no-boolean": ruled(PLAIN, "self.port"),
    "not-a-list": ruled(PLAIN, "self.text.all(x, true)"),
    "not-an-object": ruled(PLAIN, "self.count.x == 1"),
    "has-of-nothing": ruled(PLAIN, "has(self)"),
    "mixed-list": ruled(PLAIN, "self.count in [1, 'a']"),
    "mixed-map": ruled(PLAIN, "{'a': 1, 'b': 'c'}.size() == 2"),
    "bad-pattern": ruled(PLAIN, "self.text.matches('[')"),
    "bad-duration": ruled(PLAIN, "self.long < duration('long')"),
    "bad-timestamp": ruled(PLAIN, "self.moment < timestamp('soon')"),
    "bad-format": ruled(PLAIN, "'%d'.format([self.text]) == 'a'"),
    "bad-conversion": ruled(PLAIN, "int('a') == 1"),
    "bad-macro": ruled(PLAIN, "self.words.all(1, true)"),
    "bad-macro-of-two": ruled(PLAIN, "self.words.all(i, i, true)"),
    "multi-line": ruled(PLAIN, rule("self.count\n< 'a'", message="m")),
    "escaped": ruled(PLAIN, "self.a__dash__b == 1 && self.__namespace__ == 'x'"),
    "reserved": ruled(PLAIN, "self.namespace == 'x'"),
    "dash": ruled(PLAIN, "self.a-b == 1"),
    "backtick": ruled(PLAIN, "self.`a-b` == 1"),
    "formats": ruled(PLAIN, "self.moment.getFullYear() > 2000 && self.long < duration('1h')"),
    "bytes": ruled(PLAIN, "self.bytes == b'a' && self.bytes.size() < 3"),
    "bytes-are-no-text": ruled(PLAIN, "self.bytes == 'a'"),
    "at-root": PLAIN,
    "at-leaf": an_object({"a": ruled(NUMBER, "self > 3")}),
    "at-list": an_object({"a": ruled(NUMBERS, "self.sum() > 3")}),
    "in-list": an_object({"a": a_list(ruled(NUMBER, "self > 3"), maxItems=10)}),
    "in-map": an_object({"a": {"type": "object", "additionalProperties": ruled(SHORT, "true")}}),
    "of-anything": an_object(
        {"a": ruled({"x-kubernetes-preserve-unknown-fields": True}, "self == 1")}
    ),
    "of-int-or-string": an_object(
        {"a": ruled({"x-kubernetes-int-or-string": True}, "self == 1 || self == 'a'")}
    ),
    "message": ruled(PLAIN, rule("self.on", message="is off")),
    "message-expression": ruled(
        PLAIN, rule("self.on", messageExpression="'count ' + string(self.count)")
    ),
    "message-expression-syntax": ruled(PLAIN, rule("self.on", messageExpression="'count ' +")),
    "message-expression-type": ruled(PLAIN, rule("self.on", messageExpression="self.count")),
    "message-expression-undeclared": ruled(PLAIN, rule("self.on", messageExpression="foo")),
    "message-expression-cost": ruled(
        PLAIN, rule("self.on", messageExpression="self.all.map(x, self.all.join(x)).join(',')")
    ),
    "both-wrong": ruled(PLAIN, rule("self.count", messageExpression="self.count")),
    "reason": ruled(PLAIN, rule("self.on", reason="FieldValueForbidden")),
    "bad-reason": ruled(PLAIN, rule("self.on", reason="FieldValueStrange")),
    "field-path": ruled(PLAIN, rule("self.on", fieldPath=".inner.a")),
    "field-path-key": ruled(PLAIN, rule("self.on", fieldPath=".map['a']")),
    "bad-field-path": ruled(PLAIN, rule("self.on", fieldPath=".inner.z")),
    "old-self": ruled(PLAIN, "self.count >= oldSelf.count"),
    "old-self-in-list": an_object({"a": a_list(ruled(NUMBER, "self == oldSelf"), maxItems=5)}),
    "old-self-in-keyed-list": an_object(
        {
            "a": a_list(
                ruled(an_object({"name": SHORT}, required=["name"]), "self == oldSelf"),
                maxItems=5,
                **KEYED,
            )
        }
    ),
    "old-self-below-list": an_object(
        {"a": a_list(an_object({"b": ruled(NUMBER, "self == oldSelf")}), maxItems=5)}
    ),
    "optional-old-self": ruled(
        PLAIN, rule("oldSelf.hasValue() || self.count == 1", optionalOldSelf=True)
    ),
    "optional-old-self-unused": ruled(PLAIN, rule("self.count == 1", optionalOldSelf=True)),
    "optional-old-self-false-unused": ruled(PLAIN, rule("self.on", optionalOldSelf=False)),
    "optional-old-self-taken-as-value": ruled(
        PLAIN, rule("oldSelf.count == 1", optionalOldSelf=True)
    ),
    "old-self-is-not-optional": ruled(PLAIN, "oldSelf.hasValue()"),
    "too-costly": ruled(PLAIN, "self.all.all(x, self.all.all(y, x == y))"),
    "costly-within-limits": ruled(PLAIN, "self.words.all(x, self.words.all(y, x == y))"),
    "costly-text": ruled(an_object({"a": TEXT, "b": TEXT}), "self.a.contains(self.b)"),
    "costly-pattern": ruled(an_object({"a": a_list(TEXT)}), "self.a.all(x, x.matches('^[a-z]*$'))"),
    "costly-in-list": an_object({"a": a_list(ruled(TEXT, "self.matches('^[a-z]*$')"))}),
    "costly-in-map": an_object(
        {
            "a": {
                "type": "object",
                "additionalProperties": ruled(
                    {"type": "object", "additionalProperties": TEXT}, "self.all(k, self[k] != '')"
                ),
            }
        }
    ),
    "slightly-too-costly": ruled(
        an_object({"a": a_list({"type": "string", "maxLength": 95}, maxItems=1000)}),
        "self.a.all(x, self.a.exists(y, x == y))",
    ),
    "too-costly-together": ruled(
        an_object({"a": a_list({"type": "string", "maxLength": 1000}, maxItems=10_000)}),
        *(
            f"self.a.all(x, x.contains('abcdefghijkl'){' && x.size() > 0' * number})"
            for number in range(14)
        ),
    ),
    "costly-and-wrong": ruled(
        PLAIN, "self.all.all(x, self.all.all(y, x == y))", "self.nothing == 1"
    ),
    "default-against-rule": an_object({"a": ruled({**NUMBER, "default": 1}, "self > 3")}),
    "default-by-rule": an_object({"a": ruled({**NUMBER, "default": 5}, "self > 3")}),
    "default-of-object-against-rule": an_object(
        {"a": {**ruled(an_object({"b": NUMBER}), "has(self.b)"), "default": {}}}
    ),
    "default-against-optional-old-self": an_object(
        {
            "a": ruled(
                {**NUMBER, "default": 1}, rule("oldSelf.orValue(2) == self", optionalOldSelf=True)
            )
        }
    ),
    "wrong-elsewhere": ruled(
        an_object({"a": {"type": "string", "pattern": "["}}), "self.nothing == 1"
    ),
    "embedded": an_object(
        {
            "a": ruled(
                {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "self.metadata.name.startsWith('a') && self.kind == 'A'",
            )
        }
    ),
    "in-all-of": an_object({"a": {**NUMBER, "allOf": [ruled({}, "self > 3")]}}),
    "in-all-of-wrong": an_object({"a": {**NUMBER, "allOf": [ruled({}, "self > 'a'")]}}),
    "in-any-of": an_object({"a": {**NUMBER, "anyOf": [ruled({}, "self > 3")]}}),
    "metadata-labels": ruled(an_object({}), "self.metadata.labels.size() == 1"),
}
