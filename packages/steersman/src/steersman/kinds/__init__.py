"""Kubernetes objects as Python classes: frozen, typed, and exact on the wire.

Takes:     JSON from an API server; class statements from an operator author
Gives:     frozen structs, and JSON again; the class of a kind, and the kind of a class
Promises:  - a field that is none is not sent and any other value is
           - an object cannot be changed
           - unstructured objects keep every field and its order
           - an object that cannot be decoded does not fail its list
           - a generated module is imported only when it is used
           - an object that is being deleted is never ready
           - no repr shows a sensitive value
Never:     sends a request to a server, or fills in the server's defaults

The modules named after API groups (``apps_v1``, ``core_v1``, …) are generated and meant to be
imported by name: ``from steersman.kinds import apps_v1``. So is ``recipes``, which builds common
objects of those kinds.
"""

from steersman.kinds.base import Condition, Part, replace, validations_of
from steersman.kinds.cel import Cel
from steersman.kinds.codec import Codec, DecodedEvent, DecodedList
from steersman.kinds.coverage import covers
from steersman.kinds.crd import Column, Crd, ScalePaths
from steersman.kinds.managed_fields import without_managed_fields
from steersman.kinds.metadata_only import MetadataOnly, metadata_only
from steersman.kinds.read_only import stored_field
from steersman.kinds.readiness import is_ready
from steersman.kinds.resource import CustomResource, Resource
from steersman.kinds.rule import Rule
from steersman.kinds.scheme import Conversion, Scheme
from steersman.kinds.unstructured import Unstructured

__all__ = [
    "Cel",
    "Codec",
    "Column",
    "Condition",
    "Conversion",
    "Crd",
    "CustomResource",
    "DecodedEvent",
    "DecodedList",
    "MetadataOnly",
    "Part",
    "Resource",
    "Rule",
    "ScalePaths",
    "Scheme",
    "Unstructured",
    "covers",
    "is_ready",
    "metadata_only",
    "replace",
    "stored_field",
    "validations_of",
    "without_managed_fields",
]
