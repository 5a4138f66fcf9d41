"""The structural schema of a kind, from the fields of its class and of all classes inside it.

    kind_schema ─▶ hints          an annotation: its type, its ``Rule``, whether it may be none
                   scalars        types without anything inside
                   rules          what a ``Rule`` adds
                   builtin_facts  what Kubernetes' OpenAPI adds to its own types
                   descriptions   docstrings
    json_paths                    ``.spec.ports[0].name``, followed through a schema
    place                         the place in a kind that an error names

Takes:     a class, and its source for the descriptions
Gives:     a schema as Kubernetes' structural schemas are
Promises:  - what no schema can describe is refused with its field and the reason
Never:     instantiates the class
"""

__all__: list[str] = []
