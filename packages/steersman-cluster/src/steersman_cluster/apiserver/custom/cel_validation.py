"""The CEL validation of a custom resource, after all other validation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.node import UNSET

if TYPE_CHECKING:
    from steersman_cluster.apiserver.cel.schemas.schema_rules import SchemaRules

# Errors that prevent the evaluation of CEL rules, which require values of the declared types.
_BLOCKING: Final = frozenset(
    (
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    )
)
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation"
)


class CelValidation:
    """The CEL rules of one schema; they are compiled when the first object is validated."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self._written = written
        self._rules: SchemaRules | None = None
        # The last validated object and its warnings, so that warnings() does not evaluate the rules
        # again.
        self._latest: tuple[Object, list[str]] | None = None

    def completed(
        self, errors: list[FieldError], new: Object, old: Any = UNSET
    ) -> list[FieldError]:
        """Return ``errors``, plus the errors of the CEL rules for ``new``, which replaces ``old``.

        If ``errors`` contains an error that prevents the evaluation of the rules, the result
        contains ``errors`` and one error about the unchecked rules.
        """
        if any(each.type in _BLOCKING for each in errors):
            return [*errors, invalid("<nil>", None, _NOT_CHECKED)]
        if self._rules is None:
            # A deferred import: a server whose kinds have no rules does not load CEL.
            from steersman_cluster.apiserver.cel.schemas.schema_rules import SchemaRules

            self._rules = SchemaRules(self._written, is_resource=True)
        found = self._rules.validate(new, old)
        self._latest = (new, found.warnings)
        return [*errors, *found.errors]

    def warnings(self, new: Object) -> list[str]:
        """Return the warnings for ``new`` if it is the object that was validated last, else none.

        The warnings are errors that existed before the write.
        """
        if self._latest is None or self._latest[0] is not new:
            return []
        return self._latest[1]
