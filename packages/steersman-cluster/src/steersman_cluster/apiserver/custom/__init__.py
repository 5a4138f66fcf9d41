"""Kinds that are defined while the server runs.

Takes:     CustomResourceDefinitions, as plain JSON
Gives:     what is served because of them, each version with its schema and rules; the rules for
           definitions themselves; their status; and scales of custom and built-in objects
Promises:  - a definition that the real server refuses is refused with the same causes
           - names are accepted first come, first served
           - what a definition serves follows from the definition alone
Never:     keeps anything, or looks at custom resources other than the one it is given

What a definition may say is in ``definition_rules``, ``version_validation``, ``schema_validation``
and ``conversion_validation``; in messages it has its ``internal_form``. What follows from it is in
``definition_status`` and ``definition_resources``.
"""

from steersman_cluster.apiserver.custom.definition_resources import served
from steersman_cluster.apiserver.custom.definition_rules import DEFINITION, DEFINITIONS
from steersman_cluster.apiserver.custom.definition_status import (
    accepted,
    instances_gone,
    terminating,
)
from steersman_cluster.apiserver.custom.scale import BUILTIN_SCALE, scale_of, scaled

__all__ = [
    "BUILTIN_SCALE",
    "DEFINITION",
    "DEFINITIONS",
    "accepted",
    "instances_gone",
    "scale_of",
    "scaled",
    "served",
    "terminating",
]
