"""Custom resources: kinds that CustomResourceDefinitions (CRDs) define at runtime.

Takes:     CustomResourceDefinitions, as plain JSON
Gives:     the served resources of a CRD, each version with its schema and strategy; the strategy of
           CRDs themselves; the status of CRDs; and scales of custom and built-in objects
Promises:  - a CRD that kube-apiserver rejects is rejected with the same causes
           - the names of the first definition take precedence
           - the served resources of a CRD depend only on the CRD
Never:     stores objects, or reads custom resources other than those passed to it

``definition_strategy``, ``version_validation``, ``schema_validation`` and ``conversion_validation``
validate a CRD; error messages show the CRD in its ``internal_form``. ``definition_status`` and
``definition_resources`` derive its status and its served resources.
"""

from steersman_cluster.apiserver.custom.definition_resources import served
from steersman_cluster.apiserver.custom.definition_status import (
    accepted,
    instances_gone,
    terminating,
)
from steersman_cluster.apiserver.custom.definition_strategy import DEFINITION, DEFINITIONS
from steersman_cluster.apiserver.custom.scale import BUILTIN_SCALE, scale_of, with_replicas

__all__ = [
    "BUILTIN_SCALE",
    "DEFINITION",
    "DEFINITIONS",
    "accepted",
    "instances_gone",
    "scale_of",
    "served",
    "terminating",
    "with_replicas",
]
