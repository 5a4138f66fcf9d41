"""Schemas, and what the server derives from them: decoding, pruning, defaults and validation.

Takes:     bodies of requests; Kubernetes' OpenAPI documents; the schemas of custom resources
Gives:     objects as kube-apiserver would store them: decoded, pruned, defaulted; and the errors
           of objects that kube-apiserver would reject, with its messages
Promises:  - a violated rule is reported with kube-apiserver's message
           - a default is not shared between objects
           - an unchanged invalid value does not prevent an update
Never:     stores anything, checks who wrote an object, or uses more of a kind than its schema

A schema is a tree of ``node``s. ``builtin_schemas`` builds those of built-in kinds, with the Go
types from ``go_declarations``; ``structural`` builds those of custom kinds. ``serializer`` decodes
a body. A custom resource then passes ``pruner``, ``embedded_resources``, ``defaults``,
``validator`` and ``uniqueness``.
"""

__all__: list[str] = []
