"""Python classes from OpenAPI schemas: the built-in kinds, and anyone's CustomResourceDefinition.

Takes:     what a server says in ``/openapi/v3`` and discovery; a CRD as read from its file
Gives:     the source text of modules of kinds
Promises:  - the same schemas always give the same text
           - every field keeps its exact name on the wire
           - no name in a schema becomes anything but a name in the source
           - a description becomes nothing but a text
           - what is generated is formatted as ruff would format it
Never:     reads a file (``__main__`` does) or asks a server, or repeats Kubernetes' descriptions

``python -m steersman.kinds.generate`` writes the modules of the built-in kinds, and with
``--check`` says whether they are up to date.
"""

from steersman.kinds.generate.builtin import builtin_sources
from steersman.kinds.generate.crd import models_from_crd
from steersman.kinds.generate.facts import facts_of

__all__ = ["builtin_sources", "facts_of", "models_from_crd"]
