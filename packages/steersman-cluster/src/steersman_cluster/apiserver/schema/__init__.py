"""What objects look like, and what follows from it.

Takes:     bodies of requests; Kubernetes' OpenAPI documents; schemas that authors of kinds write
Gives:     objects as the real server would keep them: decoded, pruned, defaulted; and what is
           wrong with those that it would refuse, in its words
Promises:  - what breaks a rule is reported in the server's words
           - a default is never shared between objects
           - what stays as wrong as it was does not hinder an update
Never:     stores anything, asks who wrote an object, or knows more of a kind than its schema says

A schema is made of ``node``s. Those of built-in kinds come from ``builtin_schemas``, which adds
what ``go_declarations`` knows; those of custom kinds from ``structural``. ``serializer`` reads a
body. A custom resource then passes ``pruner``, ``embedded_resources``, ``defaults``, ``validator``
and ``uniqueness``.
"""

__all__: list[str] = []
