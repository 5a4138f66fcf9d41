"""Python classes from OpenAPI schemas: the built-in kinds, and any CustomResourceDefinition.

Takes:     the documents of ``/openapi/v3`` and discovery; a CRD as read from its file
Gives:     the source text of modules of kinds
Promises:  - the same schemas always give the same text
           - every field keeps its exact name on the wire
           - every name in a schema becomes only an identifier in the source
           - a description becomes only a string literal
           - generated modules are formatted as by ruff
Never:     reads a file (``__main__`` does), sends a request, or copies Kubernetes' descriptions

``python -m steersman.kinds.generate`` writes the modules of the built-in kinds. With ``--check``,
it reports whether they are up to date.
"""

from steersman.kinds.generate.builtin import builtin_sources
from steersman.kinds.generate.crd import models_from_crd
from steersman.kinds.generate.facts import facts_of

__all__ = ["builtin_sources", "facts_of", "models_from_crd"]
