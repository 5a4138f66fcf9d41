"""Schemas of one field, with sample values, most of them invalid."""

from typing import Any, Final

STRING: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}
NUMBER: Final = {"type": "number"}
ANYTHING: Final = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED: Final = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}


def fields(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties}


def items(schema: Any, **rules: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": schema, **rules}


def values(schema: Any, **rules: Any) -> dict[str, Any]:
    """Return the schema of a map."""
    return {"type": "object", "additionalProperties": schema, **rules}


MAP_LIST: Final = items(
    {**fields(name=STRING, port=INTEGER, x=STRING), "required": ["name"]},
    **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
)
TWO_KEYS: Final = items(
    {
        **fields(name=STRING, port={**INTEGER, "default": 80}, x=STRING),
        "required": ["name"],
    },
    **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"]},
)
SET: Final = items(STRING, **{"x-kubernetes-list-type": "set"})
ONE_OF: Final = {
    **fields(a=STRING, b=STRING, c=INTEGER),
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
}
ANY_OF: Final = {
    **fields(a=STRING, b=STRING, c=INTEGER),
    "anyOf": [
        {"required": ["a"], "properties": {"c": {"minimum": 5}}},
        {"required": ["b"], "properties": {"c": {"maximum": 3}, "b": {"minLength": 3}}},
    ],
}
ALL_OF: Final = {**STRING, "allOf": [{"minLength": 3}, {"pattern": "^a"}, {"maxLength": 5}]}
NESTED: Final = {
    **fields(
        a={**STRING, "default": "x"},
        b=fields(c={**INTEGER, "default": 1}, d=STRING),
        e={**fields(f={**STRING, "default": "y"}), "default": {}},
        g={**STRING, "nullable": True, "default": "z"},
        h={**items({**fields(i={**INTEGER, "default": 7}), "default": {"i": 3}}), "default": [{}]},
        j=values({**fields(k={**STRING, "default": "w"}), "default": {"k": "v"}}),
    )
}
WRONG: Final[tuple[Any, ...]] = (
    "text",
    5,
    1.5,
    True,
    None,
    [],
    {},
    [1],
    {"a": 1},
    "",
    0,
    -3,
    1e30,
    10**20,
)

_TYPES: Final = (
    STRING,
    INTEGER,
    NUMBER,
    {"type": "boolean"},
    items(STRING),
    values(STRING),
    {"x-kubernetes-int-or-string": True},
    {**STRING, "nullable": True},
    {**STRING, "format": "date-time"},
    {**INTEGER, "format": "int32"},
    {**INTEGER, "format": "int64"},
    {**NUMBER, "format": "float"},
    {**NUMBER, "format": "double"},
    ANYTHING,
)

_FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "date-time": (
        "2024-02-29T10:00:00Z",
        "2023-02-29T10:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01t10:00:00.123z",
        "2024-01-01T10:00:00+25:00",
        "2024-01-01",
        "2024-01-01 10:00:00Z",
        "x",
    ),
    "datetime": ("2024-01-01T10:00:00Z", "y"),
    "date": ("2024-02-29", "2023-02-29", "24-1-1", "0000-01-01"),
    "duration": ("1h30m", "1 day", "5 parsecs", "3 weeks 2h", "-1.5s", "0", "1", "", "9 Minutes"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "123"),
    "uuid3": ("123e4567-e89b-32d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174000"),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"),
    "uuid5": ("123e4567-e89b-52d3-a456-426614174000", "x"),
    "ipv4": ("1.2.3.4", "01.02.03.04", "1.2.3", "::1", "::ffff:1.2.3.4", "1.2.3.256"),
    "ipv6": ("::1", "1.2.3.4", "fe80::1%eth0", "2001:db8::g"),
    "cidr": ("10.0.0.0/8", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0", "::/0", "010.0.0.0/8"),
    "mac": ("01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab", "01:23", "0123456789ab"),
    "email": (
        "a@b",
        "a.b@c.d",
        "Jane <jane@example.com>",
        "a@b@c",
        "@b",
        "a b@c",
        '"a b"@c',
        "a..b@c",
        "a@[1.2.3.4]",
        "a@b (c)",
    ),
    "hostname": (
        "example.com",
        "a",
        "-a.com",
        "a_b.com",
        "bücher.example",
        "a.b1",
        "1.2.3.4",
        f"{'a' * 64}.com",
        "x-y.com",
    ),
    "uri": (
        "https://a.b/c?d=e#f",
        "/path",
        "path",
        "mailto:x",
        "http://a b/",
        "http://[::1]:80/",
        "http://a:x/",
        "/%zz",
        "",
        ":x",
        "http://a%20b/",
        "a:b",
    ),
    "byte": ("YQ==", "YQ", "", "====", "YWJj", "YW Jj"),
    "bsonobjectid": ("507f1f77bcf86cd799439011", "507f"),
    "isbn": ("0321751043", "978-0321751041", "1234567890"),
    "isbn10": ("0321751043", "0-321-75104-3", "978-0321751041", "080442957X"),
    "isbn13": ("978 0321751041", "9780321751042"),
    "creditcard": ("4111 1111 1111 1111", "4111-1111-1111-1112", "1"),
    "ssn": ("111-11-1111", "111 11 1111", "111111111"),
    "hexcolor": ("#fff", "FFFFFF", "#ff", "#ggg"),
    "rgbcolor": ("rgb(0,0,0)", "rgb( 255 , 1 , 2 )", "rgb(256,0,0)"),
    "password": ("anything at all",),
    "k8s-short-name": ("abc", "a.b", "A", "a" * 64, "-a"),
    "k8s-long-name": ("a.b", "A.b", "a..b", "a" * 254),
    "no-such-format": ("anything",),
}

_PATTERNS: Final[dict[str, tuple[str, ...]]] = {
    "^a+$": ("aaa", "aaa\n", "b", "\naaa"),
    r"^\d+$": ("123", "١٢٣", "12a"),
    r"^\w+$": ("abc_1", "über"),
    r"^[^\s]+$": ("ab", "a b", "a\vb"),
    "b": ("abc", "ac"),
    "(?i)^abc$": ("ABC", "abd"),
    "a(?i)b|c": ("aB", "C", "Ab"),
    "(?m)^b$": ("a\nb\nc", "abc"),
    "(?s)^a.c$": ("a\nc", "abbc"),
    "^a.c$": ("a\nc", "abc"),
    "^[[:alpha:]]+$": ("abc", "ab1"),
    r"^\p{Lu}\pL*$": ("Éa", "éa", "A1"),
    r"^\p{Greek}+$": ("αβγ", "abc"),
    r"^[\p{L}-]+$": ("a-b", "a_b"),
    r"^\Qa.b\E$": ("a.b", "axb"),
    "^(?P<x>a)(?:b)?$": ("ab", "abb"),
    "^a{2,3}$": ("aa", "aaaa"),
    "^a{,3}$": ("aa", "a{,3}"),
    "^[a-c&&b]+$": ("a&b", "d"),
    "^[]a]$": ("]", "b"),
    r"^\x41\x{1F600}$": ("A😀", "A"),
    r"^[^\W_]+$": ("a1", "a_"),
    "^(a|b)*?$": ("abab", "abc"),
    r"\bfoo\b": ("a foo b", "afoob"),
    r"^\z": ("", "a"),
    "^(?U)a+$": ("aa", "b"),
    "^.{3}$": ("äöü", "äö", "a\u0301bc"),
}

_RULES: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    ({**STRING, "maxLength": 3}, ("abc", "abcd", "äöü", "äöüß")),
    ({**STRING, "maxLength": 1}, ("ab",)),
    ({**STRING, "minLength": 2, "maxLength": 1, "pattern": "x"}, ("", "abc")),
    ({**STRING, "minLength": 2, "pattern": "x"}, ("a", "abc", "axb")),
    ({**STRING, "enum": ["a", "b"]}, ("a", "c", "")),
    ({**STRING, "enum": ["a"], "nullable": True}, (None, "a")),
    ({**INTEGER, "enum": [1, 2]}, (1, 3, 1.0)),
    ({**NUMBER, "enum": [1, 2.5]}, (1, 2.5, 1.5, 1.0, 2)),
    ({**ANYTHING, "enum": [{"a": 1}, [1], "x", True]}, ({"a": 1}, [1], "y", True, 1, {"a": 2})),
    ({**INTEGER, "minimum": 0}, (0, -1)),
    ({**INTEGER, "minimum": 0, "exclusiveMinimum": True}, (0, 1)),
    ({**INTEGER, "maximum": 5}, (5, 6, 6.0)),
    ({**INTEGER, "maximum": 5, "exclusiveMaximum": True}, (5, 4)),
    ({**INTEGER, "maximum": 5.5}, (5, 6)),
    ({**INTEGER, "format": "int32", "maximum": 3000000000}, (5, 3000000001)),
    ({**INTEGER, "format": "int32"}, (2147483647, 2147483648, -2147483649)),
    ({**INTEGER, "format": "int64"}, (9223372036854775807, 9223372036854775808)),
    ({**NUMBER, "minimum": 0.5}, (0.5, 0.25, 0, 1)),
    ({**NUMBER, "maximum": 1000000}, (1000000.5, 1000001, 999999.5)),
    ({**NUMBER, "format": "float"}, (1e39, 1e38)),
    ({**INTEGER, "multipleOf": 3}, (9, 10, 9.0)),
    ({**INTEGER, "multipleOf": 0.5}, (1, 2)),
    ({**NUMBER, "multipleOf": 0.1}, (0.3, 0.35, 3)),
    ({**NUMBER, "multipleOf": 2}, (4, 5, 4.0, 5.5)),
    ({**INTEGER, "minimum": 5, "multipleOf": 2, "maximum": 4}, (3,)),
    (items(STRING, minItems=1), ([], ["a"], [1])),
    (items(STRING, maxItems=1), (["a"], ["a", "b"])),
    (items(STRING, maxItems=2, minItems=1), (["a", "b", "c"],)),
    (items(INTEGER), ([1, "a", None, 2.5, {}],)),
    (items({**INTEGER, "nullable": True}), ([1, None],)),
    (values(STRING, minProperties=1), ({}, {"a": "b"})),
    (values(STRING, maxProperties=1), ({"a": "b"}, {"a": "b", "c": "d"})),
    (values(INTEGER), ({"a": 1, "b": "c"}, {"a.b": "c"}, {"a": None})),
    (values({**INTEGER, "nullable": True}), ({"a": None},)),
    (values(True), ({"a": {"b": 1}, "c": [{"d": 1}], "e": 1},)),
    (values(False), ({}, {"a": 1})),
    (values(ANYTHING), ({"a": {"b": 1}},)),
    ({**fields(a=STRING, b=INTEGER), "required": ["a", "b"]}, ({}, {"a": "x"}, {"a": 1, "b": "y"})),
    ({**fields(a=STRING), "required": ["a"]}, ({"a": None},)),
    (ONE_OF, ({}, {"a": "x"}, {"a": "x", "b": "y"}, {"a": 1}, {"c": "x"})),
    (ANY_OF, ({}, {"a": "x", "c": 1}, {"b": "y", "c": 4}, {"b": "yyy"}, {"a": "x", "c": 5})),
    (ALL_OF, ("abc", "b", "bbbbbb", "abcdef", "ab")),
    ({**STRING, "not": {"enum": ["a"]}}, ("a", "b", 1)),
    ({**fields(a=STRING, b=STRING), "not": {"required": ["a", "b"]}}, ({"a": "x", "b": "y"},)),
    (
        {**STRING, "oneOf": [{"pattern": "^a"}, {"pattern": "^b"}, {"maxLength": 1}]},
        ("ab", "a", "cc"),
    ),
    (
        {**STRING, "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
        ("1.2.3.4", "::1", "x"),
    ),
    (
        {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": "^[0-9]+%?$",
        },
        (5, "5%", "x", 1.5, True, None),
    ),
    (
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"minimum": 3}],
        },
        (5, 2, "x", []),
    ),
    ({"x-kubernetes-int-or-string": True, "maximum": 5}, (6, "x")),
    (SET, (["a", "b"], ["a", "a"], ["a", "b", "a", "a", "b"], [])),
    (
        items(
            {**fields(a=STRING), "x-kubernetes-map-type": "atomic"},
            **{"x-kubernetes-list-type": "set"},
        ),
        ([{"a": "x"}, {"a": "x"}], [{"a": "x"}, {}]),
    ),
    (
        MAP_LIST,
        (
            [{"name": "a"}, {"name": "b"}],
            [{"name": "a"}, {"name": "a", "port": 1}],
            [{}, {}],
            [{"name": "a"}, 5],
            [5],
            [None, None],
            [{"name": "a", "y": 1}],
        ),
    ),
    (
        TWO_KEYS,
        (
            [{"name": "a"}, {"name": "a", "port": 81}],
            [{"name": "a"}, {"name": "a", "port": 80}],
            [{"name": "a", "port": 1}, {"name": "b"}, {"name": "a", "port": 1}],
        ),
    ),
    (items(MAP_LIST), ([[{"name": "a"}, {"name": "a"}]],)),
    (values(SET), ({"a": ["x", "x"]},)),
    (
        NESTED,
        (
            {},
            {"b": {}},
            {"a": None, "g": None, "e": None},
            {"h": [{}, None, {"i": 1}]},
            {"h": None, "j": {"a": {}, "b": None, "c": {"k": None}}},
            {"b": None, "zz": 1},
            {"b": {"d": None, "zz": {"y": 1}}},
            {"b": 5, "e": [], "h": {}},
        ),
    ),
    (fields(a=STRING), ({"b": 1}, {"a": {"b": 1}}, {"a": [{"b": 1}]}, [{"a": 1}], "x")),
    ({"type": "object"}, ({"a": 1}, {"a": {"b": 1}}, {})),
    ({"type": "object", **ANYTHING}, ({"a": {"b": None}},)),
    ({**fields(a=fields(b=STRING)), **ANYTHING}, ({"a": {"c": 1}, "d": {"e": 1}},)),
    (
        {**items(fields(a=STRING)), **ANYTHING},
        ([{"a": "x", "b": {"c": 1}}], [[{"z": 1}]]),
    ),
    (items(fields(a=STRING)), ([{"b": 1}, {"a": "x"}], [[{"a": "x"}]])),
    (items({"type": "object", **ANYTHING}), ([{"b": {"c": 1}}],)),
    (ANYTHING, ([{"b": {"c": 1}}], {"a": None}, None, 1.0, {"a": 1.0})),
    (NUMBER, (1.0, 2.50, 1e3, 1e21)),
    (
        EMBEDDED,
        (
            {},
            {"apiVersion": "v1", "kind": "Pod"},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b", "foo": 1}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": 5}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": "x"},
            {"apiVersion": "v1", "kind": "Pod", "metadata": None},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {}, "name": ""}},
            {"apiVersion": 5, "kind": "Pod"},
            {"apiVersion": "v1", "kind": None},
            {"apiVersion": "", "kind": ""},
            {"apiVersion": "a/b/c", "kind": "x_y"},
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "X_",
                    "namespace": "A",
                    "labels": {"a b": "c d"},
                    "annotations": {"-": "x"},
                    "creationTimestamp": "2024-01-01T00:00:00Z",
                    "ownerReferences": [{"name": "x", "y": 1}],
                },
                "spec": {"any": [{"thing": None}]},
            },
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": None}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"generation": "x"}},
            5,
        ),
    ),
    (
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": fields(a=STRING)},
        },
        (
            {"apiVersion": "v1", "kind": "Pod", "spec": {"a": "x", "b": 1}, "other": 1},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"bogus": 1, "name": "x"}},
        ),
    ),
    (items(EMBEDDED), ([{"apiVersion": "v1", "kind": "A", "metadata": {"x": 1}}, {}],)),
    (values(EMBEDDED), ({"k": {"apiVersion": "v1", "kind": "A", "metadata": {"x": 1}}, "l": {}},)),
)

# Each schema with its sample values.
VALUE_SAMPLES: Final[tuple[tuple[dict[str, Any], tuple[Any, ...]], ...]] = (
    *((schema, WRONG) for schema in _TYPES),
    *(({**STRING, "format": name}, texts) for name, texts in _FORMATS.items()),
    *(({**STRING, "pattern": pattern}, texts) for pattern, texts in _PATTERNS.items()),
    *_RULES,
)
