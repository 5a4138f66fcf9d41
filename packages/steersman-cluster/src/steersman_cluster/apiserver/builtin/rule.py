"""Rules of built-in kinds as tables of rows.

A row names a field, then what it must satisfy: ``rule.required("name", dns_label)``. A table has
the rows of one struct, in the order in which kube-apiserver validates. It is itself a check for a
field: ``rule.optional("ports", rule.each(_PORT))``. A function that compares fields is a row, too:
``rule.code(_port_errors)``.

The first word of a row says when its checks apply:

- ``required``: the field must be present and not empty
- ``needed``: the field must be present; it may be empty
- ``optional``: only if the field is present and not empty
- ``given``: if the field is present, even if it is empty
- ``always``: to the value, or to the default of its Go type if the field is absent
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import not_
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.meta import field_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError, all_invalid, invalid
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE as _NOT_NEGATIVE
from steersman_cluster.apiserver.meta.name_validation import within

Struct: TypeAlias = Mapping[str, Any]
# (value, path, scope, errors): appends to ``errors``. The scope is what the caller of the outermost
# table passes, for rules that depend on more than one struct.
Run: TypeAlias = Callable[[Any, str, Any, list[FieldError]], None]
# A function of ``name_validation``: returns a message for each violated rule.
Sentences: TypeAlias = Callable[[Any], Sequence[str]]


class Check:
    """A rule, or a table of rules, for one value."""

    __slots__ = ("_run", "bind", "is_stateful")

    def __init__(self, bind: Callable[[], Run], *, is_stateful: bool = False) -> None:
        # Returns the function that validates. A check that compares the elements of a list is
        # stateful: it is bound again for each list.
        self.bind = bind
        self.is_stateful = is_stateful
        self._run = bind()

    def __call__(self, value: Any, path: str = "", scope: Any = None) -> list[FieldError]:
        """Return the errors in ``value``, which is at ``path``."""
        errors: list[FieldError] = []
        run = self.bind() if self.is_stateful else self._run
        run(value, path, scope, errors)
        return errors


Rule: TypeAlias = Check | Sentences


def code(errors_of: Callable[[Any, str], Iterable[FieldError]]) -> Check:
    """A check by a function, for what a row cannot say; it gets the value and its path."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        errors.extend(errors_of(value, path))

    return Check(lambda: run)


def scoped(errors_of: Callable[[Any, str, Any], Iterable[FieldError]]) -> Check:
    """A check by a function that also gets the scope of the outermost table."""

    def run(value: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
        errors.extend(errors_of(value, path, scope))

    return Check(lambda: run)


def table(*rules: Rule) -> Check:
    """All of ``rules``, in order."""
    return _combined(rules, _sequence)


def first(*rules: Rule) -> Check:
    """The rules in order, up to the first one that is violated."""

    def factory(runs: Sequence[Run]) -> Run:
        def run(value: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
            before = len(errors)
            for each in runs:
                each(value, path, scope, errors)
                if len(errors) > before:
                    return

        return run

    return _combined(rules, factory)


def when(holds: Callable[[Any], Any], *rules: Rule, otherwise: Sequence[Rule] = ()) -> Check:
    """The rules that apply if ``holds`` returns true for the value, else those of ``otherwise``."""
    split = len(rules)

    def factory(runs: Sequence[Run]) -> Run:
        then, other = _sequence(runs[:split]), _sequence(runs[split:])

        def run(value: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
            (then if holds(value) else other)(value, path, scope, errors)

        return run

    return _combined((*rules, *otherwise), factory)


def required(name: str, *rules: Rule, detail: str = "", at: str | None = None) -> Check:
    """The field must be present and not empty, and then satisfy ``rules``.

    ``at`` is the path that errors show, relative to the struct; by default that of the field.
    """
    return _field(name, rules, at, not_, lambda field: field_errors.required(field, detail))


def all_required(*names: str, detail: str = "") -> Check:
    """Each of the fields must be present and not empty."""
    return table(*(required(name, detail=detail) for name in names))


def needed(name: str, *rules: Rule, detail: str = "", at: str | None = None) -> Check:
    """The field must be present, even if it is empty, and then satisfy ``rules``."""
    return _field(name, rules, at, _is_none, lambda field: field_errors.required(field, detail))


def optional(name: str, *rules: Rule, at: str | None = None) -> Check:
    """If the field is present and not empty, it must satisfy ``rules``."""
    return _field(name, rules, at, not_)


def given(name: str, *rules: Rule, at: str | None = None) -> Check:
    """If the field is present, even if it is empty, it must satisfy ``rules``."""
    return _field(name, rules, at, _is_none)


def always(name: str, *rules: Rule, default: Any = "", at: str | None = None) -> Check:
    """The field must satisfy ``rules``; an absent field has the value ``default``."""
    read = _reader(name)

    def value_of(struct: Any) -> Any:
        value = read(struct)
        return default if value is None else value

    return _field(name, rules, at, _is_none, read=value_of)


def forbidden(*names: str, detail: str, empty: bool = True) -> Check:
    """The fields must be absent; with ``empty=False``, they may be present and empty."""
    fields = [(_reader(name), _locator(name)) for name in names]

    def run(struct: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        for read, where in fields:
            value = read(struct)
            if value if not empty else value is not None:
                errors.append(field_errors.forbidden(where(path), detail))

    return Check(lambda: run)


def must(holds: Callable[[Any], Any], detail: str) -> Check:
    """The value is invalid unless ``holds`` returns true for it."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if not holds(value):
            errors.append(invalid(path, value, detail))

    return Check(lambda: run)


def must_be_absent(detail: str) -> Check:
    """The value is invalid, whatever it is."""
    return must(lambda _: False, detail)


def must_be_set(detail: str = "") -> Check:
    """The value is required: it must not be empty."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if not value:
            errors.append(field_errors.required(path, detail))

    return Check(lambda: run)


def forbidden_if(matches: Callable[[Any], Any], detail: str) -> Check:
    """The value is forbidden if ``matches`` returns true for it."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if matches(value):
            errors.append(field_errors.forbidden(path, detail))

    return Check(lambda: run)


def enum(*values: str) -> Check:
    """The value must be one of ``values``, which the error lists in this order."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if value not in values:
            errors.append(field_errors.not_supported(path, value, values))

    return Check(lambda: run)


def between(low: int, high: int) -> Check:
    """The number must be at least ``low`` and at most ``high``."""
    return _sentences(lambda value: within(value, low, high))


def at_most(limit: int) -> Check:
    """The number must be at most ``limit``."""
    return must(lambda value: value <= limit, f"must be less than or equal to {limit}")


def max_items(limit: int) -> Check:
    """The list or map must have at most ``limit`` entries."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if len(value) > limit:
            errors.append(field_errors.too_many(path, len(value), limit))

    return Check(lambda: run)


def max_bytes(limit: int) -> Check:
    """The text must have at most ``limit`` bytes."""

    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if len(value) * 4 > limit and len(value.encode()) > limit:
            errors.append(field_errors.too_long(path, value, limit))

    return Check(lambda: run)


def unique(
    key: Callable[[Any], Hashable] | None = None, *, detail: str = "", at: str = ""
) -> Check:
    """The value, or its ``key``, must differ from those of the earlier elements of the list.

    With ``detail``, the value is reported as invalid instead of as a duplicate. ``at`` is the path
    of the error, relative to that of the value.
    """
    where = _locator(at)

    def bind() -> Run:
        seen: set[Hashable] = set()

        def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
            own = value if key is None else key(value)
            if own in seen:
                field = where(path)
                errors.append(
                    invalid(field, own, detail) if detail else field_errors.duplicate(field, own)
                )
            seen.add(own)

        return run

    return Check(bind, is_stateful=True)


def each(*rules: Rule, numbered: bool = True) -> Check:
    """Each element of a list must satisfy ``rules``.

    With ``numbered=False``, errors show the path of the list.
    """
    checks = [_check(rule) for rule in rules]
    is_stateful = any(check.is_stateful for check in checks)
    runs = [check.bind() for check in checks]

    def run(values: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
        own = [check.bind() for check in checks] if is_stateful else runs
        for index, value in enumerate(values):
            field = f"{path}[{index}]" if numbered else path
            for check in own:
                check(value, field, scope, errors)

    return Check(lambda: run)


def each_value(*rules: Rule) -> Check:
    """Each value of a map must satisfy ``rules``; errors show the path ``map[key]``."""

    def factory(runs: Sequence[Run]) -> Run:
        def run(values: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
            for key, value in values.items():
                for each in runs:
                    each(value, f"{path}[{key}]", scope, errors)

        return run

    return _combined(rules, factory)


def _field(
    name: str,
    rules: Sequence[Rule],
    at: str | None,
    is_absent: Callable[[Any], bool],
    error: Callable[[str], FieldError] | None = None,
    *,
    read: Callable[[Any], Any] | None = None,
) -> Check:
    """A row: ``rules`` apply to a field unless it is absent, which may be an error."""
    value_of, where = read or _reader(name), _locator(name if at is None else at)

    def factory(runs: Sequence[Run]) -> Run:
        def run(struct: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
            value = value_of(struct)
            if is_absent(value):
                if error is not None:
                    errors.append(error(where(path)))
                return
            field = where(path)
            for each in runs:
                each(value, field, scope, errors)

        return run

    return _combined(rules, factory)


def _is_none(value: Any) -> bool:
    return value is None


def _combined(rules: Sequence[Rule], factory: Callable[[Sequence[Run]], Run]) -> Check:
    checks = [_check(rule) for rule in rules]
    if any(check.is_stateful for check in checks):
        return Check(lambda: factory([check.bind() for check in checks]), is_stateful=True)
    run = factory([check.bind() for check in checks])
    return Check(lambda: run)


def _check(rule: Rule) -> Check:
    return rule if isinstance(rule, Check) else _sentences(rule)


def _sentences(sentences_of: Sentences) -> Check:
    def run(value: Any, path: str, _: Any, errors: list[FieldError]) -> None:
        if wrong := sentences_of(value):
            errors.extend(all_invalid(path, value, wrong))

    return Check(lambda: run)


def _sequence(runs: Sequence[Run]) -> Run:
    if len(runs) == 1:
        return runs[0]

    def run(value: Any, path: str, scope: Any, errors: list[FieldError]) -> None:
        for each in runs:
            each(value, path, scope, errors)

    return run


def _reader(name: str) -> Callable[[Any], Any]:
    """Return a function that reads a field, such as ``spec.controller``, from a struct."""
    if "." not in name:
        return lambda struct: struct.get(name)
    first_name, _, rest = name.partition(".")
    read = _reader(rest)
    return lambda struct: read(struct.get(first_name) or _EMPTY)


_EMPTY: Final[Struct] = {}


def _locator(name: str) -> Callable[[str], str]:
    """Return a function that joins the path of a struct and the name of a field."""
    if not name:
        return lambda path: path
    return lambda path: f"{path}.{name}" if path else name


def not_negative(*names: str) -> Check:
    """None of the fields that are present may be negative."""
    return table(*(given(name, NOT_NEGATIVE) for name in names))


NOT_NEGATIVE: Final = must(lambda number: number >= 0, _NOT_NEGATIVE)
POSITIVE: Final = must(lambda number: number > 0, "must be greater than 0")
