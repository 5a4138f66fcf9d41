"""The structural schema of a kind, from the fields of its class and of all nested classes.

    kind_schema ─▶ hints          an annotation: its type, its ``Rule``, whether None is allowed
                   scalars        types without nested values
                   rules          the keywords that a ``Rule`` adds
                   builtin_facts  what Kubernetes' OpenAPI adds to the built-in types
                   descriptions   docstrings
    json_paths                    ``.spec.ports[0].name``, resolved in a schema
    place                         the path in a kind that an error names

Takes:     a class, and its source for the descriptions
Gives:     a structural schema, as Kubernetes defines it
Promises:  - a type without a schema is rejected with its field and the reason
Never:     instantiates the class
"""

__all__: list[str] = []
