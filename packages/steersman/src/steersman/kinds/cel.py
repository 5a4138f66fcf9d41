"""``Cel``: a rule in the Common Expression Language, which the API server evaluates on each write.

On a field, ``name: Annotated[str, Cel("self.startsWith('a')")]``, the rule validates the field's
value. On a class, ``class Spec(Part, validations=(Cel("self.low <= self.high"),))``, it validates
the objects of the class. A rule that uses ``oldSelf`` is evaluated on updates only.
"""

from typing import Final, Literal, TypeAlias

import msgspec

Reason: TypeAlias = Literal[
    "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"
]

_REASONS: Final = (
    "FieldValueInvalid",
    "FieldValueForbidden",
    "FieldValueRequired",
    "FieldValueDuplicate",
)

# The API server's limits for the length of an expression and of a message.
_MAX_CHARACTERS: Final = 100_000
_MAX_MESSAGE_BYTES: Final = 2048


class Cel(msgspec.Struct, frozen=True):
    """A validation rule, an entry of ``x-kubernetes-validations``.

    ``message`` is the error for a value that violates the rule; ``message_expression`` computes the
    error from the value. ``field_path``, such as ``.spec.size``, is the field that the error names;
    by default, the error names the field to which the rule belongs. A rule with ``oldSelf`` is
    evaluated on updates only, unless ``optional_old_self`` is set: then it is evaluated for new
    objects too, and ``oldSelf`` is a CEL optional.
    """

    rule: str
    message: str | None = None
    message_expression: str | None = None
    reason: Reason | None = None
    field_path: str | None = None
    optional_old_self: bool | None = None

    def __post_init__(self) -> None:
        for name in ("rule", "message", "message_expression", "field_path"):
            text = getattr(self, name)
            if text is not None and not text.strip():
                raise ValueError(f"{name} of a Cel must not be blank, got {text!r}")
            if text is not None and len(text) > _MAX_CHARACTERS:
                raise ValueError(
                    f"{name} of a Cel must have at most {_MAX_CHARACTERS:,} characters,"
                    f" got {len(text):,}"
                )
        if "\n" in self.rule and self.message is None and self.message_expression is None:
            raise ValueError("a Cel whose rule has several lines must have a message")
        if self.message is not None and "\n" in self.message:
            raise ValueError(f"message of a Cel must be a single line, got {self.message!r}")
        if self.message is not None and len(self.message.encode()) > _MAX_MESSAGE_BYTES:
            raise ValueError(
                f"message of a Cel must have at most {_MAX_MESSAGE_BYTES:,} bytes,"
                f" got {len(self.message.encode()):,}"
            )
        if self.reason is not None and self.reason not in _REASONS:
            raise ValueError(
                f"reason of a Cel must be {' or '.join(_REASONS)}, got {self.reason!r}"
            )
        if self.field_path is not None and not self.field_path.startswith((".", "[")):
            raise ValueError(
                f"field_path of a Cel must begin with a dot or a bracket, got {self.field_path!r}"
            )
        if self.optional_old_self is not None and "oldSelf" not in self.rule:
            raise ValueError("optional_old_self of a Cel requires a rule that uses oldSelf")
