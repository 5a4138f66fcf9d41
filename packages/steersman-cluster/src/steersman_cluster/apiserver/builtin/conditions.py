"""The rules of ``metav1.Condition``, which all newer kinds use."""

from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.meta.name_validation import condition_reason, label_key

_MAX_REASON_LENGTH: Final = 1024
_MAX_MESSAGE_LENGTH: Final = 32 * 1024

# The conditions of a status.
CONDITIONS: Final = rule.each(
    rule.always("type", rule.unique(), label_key),
    rule.always("status", rule.enum("False", "True", "Unknown")),
    rule.given(
        "observedGeneration",
        rule.must(lambda number: number >= 0, "must be greater than or equal to zero"),
    ),
    rule.needed("lastTransitionTime"),
    rule.required("reason", condition_reason),
    rule.given("reason", rule.max_bytes(_MAX_REASON_LENGTH)),
    rule.given("message", rule.max_bytes(_MAX_MESSAGE_LENGTH)),
)
