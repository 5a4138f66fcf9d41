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

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import methodcaller
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.meta import field_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError, all_invalid, invalid
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE as _NOT_NEGATIVE
from steersman_cluster.apiserver.meta.name_validation import within

Struct: TypeAlias = Mapping[str, Any]


class Errors(list[FieldError]):
    """The errors that were found, and the unique values of the list that is being validated."""

    seen: Mapping[object, set[Hashable]] = MappingProxyType({})


# (value, path, scope, errors): appends to ``errors``. The scope is what the caller of the outermost
# table passes, for rules that depend on more than one struct.
Run: TypeAlias = Callable[[Any, str, Any, Errors], None]
# A function of ``name_validation``: returns a message for each violated rule.
Sentences: TypeAlias = Callable[[Any], Sequence[str]]


class Check:
    """A rule, or a table of rules, for one value."""

    __slots__ = ("accepts", "reads", "run")

    def __init__(
        self, run: Run, *, accepts: Callable[[Any], Any] | None = None, reads: str = ""
    ) -> None:
        self.run = run
        # Returns true for a value without errors, faster than ``run`` does.
        self.accepts = accepts
        # The field without which a struct has no errors, so that ``run`` need not be called.
        self.reads = reads

    def __call__(self, value: Any, path: str = "", scope: Any = None) -> list[FieldError]:
        """Return the errors in ``value``, which is at ``path``."""
        errors = Errors()
        if not self.reads or self.reads in value:
            self.run(value, path, scope, errors)
        return errors


Rule: TypeAlias = Check | Sentences


def code(errors_of: Callable[[Any, str], Iterable[FieldError]], *, reads: str = "") -> Check:
    """A check by a function, for what a row cannot say; it gets the value and its path.

    ``reads`` is a field without which there are no errors.
    """

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        errors.extend(errors_of(value, path))

    return Check(run, reads=reads)


def scoped(errors_of: Callable[[Any, str, Any], Iterable[FieldError]], *, reads: str = "") -> Check:
    """A check by a function that also gets the scope of the outermost table."""

    def run(value: Any, path: str, scope: Any, errors: Errors) -> None:
        errors.extend(errors_of(value, path, scope))

    return Check(run, reads=reads)


def table(*rules: Rule) -> Check:
    """All of ``rules``, in order."""
    return Check(_all(rules))


def first(*rules: Rule) -> Check:
    """The rules in order, up to the first one that is violated."""
    checks = [_check(rule) for rule in rules]

    def run(value: Any, path: str, scope: Any, errors: Errors) -> None:
        before = len(errors)
        for each in checks:
            if not each.reads or each.reads in value:
                each.run(value, path, scope, errors)
                if len(errors) > before:
                    return

    return Check(run)


def when(holds: Callable[[Any], Any], *rules: Rule, otherwise: Sequence[Rule] = ()) -> Check:
    """The rules that apply if ``holds`` returns true for the value, else those of ``otherwise``."""
    then, other = _all(rules), _all(otherwise)

    def run(value: Any, path: str, scope: Any, errors: Errors) -> None:
        (then if holds(value) else other)(value, path, scope, errors)

    return Check(run)


def required(name: str, *rules: Rule, detail: str = "", at: str | None = None) -> Check:
    """The field must be present and not empty, and then satisfy ``rules``.

    ``at`` is the path that errors show, relative to the struct; by default that of the field.
    """
    return _field(name, rules, at, missing=detail)


def all_required(*names: str, detail: str = "") -> Check:
    """Each of the fields must be present and not empty."""
    return table(*(required(name, detail=detail) for name in names))


def needed(name: str, *rules: Rule, detail: str = "", at: str | None = None) -> Check:
    """The field must be present, even if it is empty, and then satisfy ``rules``."""
    return _field(name, rules, at, missing=detail, may_be_empty=True)


def optional(name: str, *rules: Rule, at: str | None = None) -> Check:
    """If the field is present and not empty, it must satisfy ``rules``."""
    return _field(name, rules, at)


def given(name: str, *rules: Rule, at: str | None = None) -> Check:
    """If the field is present, even if it is empty, it must satisfy ``rules``."""
    return _field(name, rules, at, may_be_empty=True)


def always(name: str, *rules: Rule, default: Any = "", at: str | None = None) -> Check:
    """The field must satisfy ``rules``; an absent field has the value ``default``."""
    read, where = _reader(name), _locator(name if at is None else at)
    checks = [_check(rule) for rule in rules]
    accepts = checks[0].accepts if len(checks) == 1 else None
    apply = _all(rules)

    def run(struct: Any, path: str, scope: Any, errors: Errors) -> None:
        value = read(struct)
        if value is None:
            value = default
        if accepts is None or not accepts(value):
            apply(value, where(path), scope, errors)

    return Check(run)


def forbidden(*names: str, detail: str, empty: bool = True) -> Check:
    """The fields must be absent; with ``empty=False``, they may be present and empty."""
    fields = [(_reader(name), _locator(name)) for name in names]

    def run(struct: Any, path: str, _: Any, errors: Errors) -> None:
        for read, where in fields:
            value = read(struct)
            if value if not empty else value is not None:
                errors.append(field_errors.forbidden(where(path), detail))

    return Check(run)


def must(holds: Callable[[Any], Any], detail: str) -> Check:
    """The value is invalid unless ``holds`` returns true for it."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if not holds(value):
            errors.append(invalid(path, value, detail))

    return Check(run, accepts=holds)


def must_be_absent(detail: str) -> Check:
    """The value is invalid, whatever it is."""
    return must(lambda _: False, detail)


def must_be_set(detail: str = "") -> Check:
    """The value is required: it must not be empty."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if not value:
            errors.append(field_errors.required(path, detail))

    return Check(run)


def forbidden_if(matches: Callable[[Any], Any], detail: str) -> Check:
    """The value is forbidden if ``matches`` returns true for it."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if matches(value):
            errors.append(field_errors.forbidden(path, detail))

    return Check(run)


def enum(*values: str) -> Check:
    """The value must be one of ``values``, which the error lists in this order."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if value not in values:
            errors.append(field_errors.not_supported(path, value, values))

    return Check(run, accepts=values.__contains__)


def between(low: int, high: int) -> Check:
    """The number must be at least ``low`` and at most ``high``."""
    return _sentences(lambda value: within(value, low, high))


def at_most(limit: int) -> Check:
    """The number must be at most ``limit``."""
    return must(lambda value: value <= limit, f"must be less than or equal to {limit}")


def max_items(limit: int) -> Check:
    """The list or map must have at most ``limit`` entries."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if len(value) > limit:
            errors.append(field_errors.too_many(path, len(value), limit))

    return Check(run)


def max_bytes(limit: int) -> Check:
    """The text must have at most ``limit`` bytes."""

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if len(value) * 4 > limit and len(value.encode()) > limit:
            errors.append(field_errors.too_long(path, value, limit))

    return Check(run)


def unique(
    key: Callable[[Any], Hashable] | None = None, *, detail: str = "", at: str = ""
) -> Check:
    """The value, or its ``key``, must differ from those of the earlier elements of the list.

    With ``detail``, the value is reported as invalid instead of as a duplicate. ``at`` is the path
    of the error, relative to that of the value.
    """
    where = _locator(at)
    rows = object()  # the key of this check in ``Errors.seen``

    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        own = value if key is None else key(value)
        seen = errors.seen[rows]
        if own in seen:
            field = where(path)
            errors.append(
                invalid(field, own, detail) if detail else field_errors.duplicate(field, own)
            )
        seen.add(own)

    return Check(run)


def each(*rules: Rule, numbered: bool = True) -> Check:
    """Each element of a list must satisfy ``rules``.

    With ``numbered=False``, errors show the path of the list.
    """
    apply = _all(rules)

    def run(values: Any, path: str, scope: Any, errors: Errors) -> None:
        outer, errors.seen = errors.seen, defaultdict(set)
        for index, value in enumerate(values):
            apply(value, f"{path}[{index}]" if numbered else path, scope, errors)
        errors.seen = outer

    return Check(run)


def each_value(*rules: Rule) -> Check:
    """Each value of a map must satisfy ``rules``; errors show the path ``map[key]``."""
    apply = _all(rules)

    def run(values: Any, path: str, scope: Any, errors: Errors) -> None:
        for key, value in values.items():
            apply(value, f"{path}[{key}]", scope, errors)

    return Check(run)


def _field(
    name: str,
    rules: Sequence[Rule],
    at: str | None,
    *,
    missing: str | None = None,
    may_be_empty: bool = False,
) -> Check:
    """A row: ``rules`` apply to a field that is present, and not empty unless it may be.

    Any other field is reported as missing with the detail ``missing``, unless that is None.
    """
    read, shown = _reader(name), name if at is None else at
    suffix = f".{shown}" if shown else ""
    checks = [_check(rule) for rule in rules]
    accepts = checks[0].accepts if len(checks) == 1 else None
    apply = _all(rules)

    def run(struct: Any, path: str, scope: Any, errors: Errors) -> None:
        value = read(struct)
        if value or (may_be_empty and value is not None):
            if accepts is None or not accepts(value):
                apply(value, path + suffix if path else shown, scope, errors)
        elif missing is not None:
            errors.append(field_errors.required(path + suffix if path else shown, missing))

    return Check(run, reads=name.partition(".")[0] if missing is None else "")


def _all(rules: Sequence[Rule]) -> Run:
    checks = [_check(rule) for rule in rules]
    if len(checks) == 1 and not checks[0].reads:
        return checks[0].run
    steps = [(each.reads, each.run) for each in checks]

    def run(value: Any, path: str, scope: Any, errors: Errors) -> None:
        for reads, each in steps:
            if not reads or reads in value:
                each(value, path, scope, errors)

    return run


def _check(rule: Rule) -> Check:
    return rule if isinstance(rule, Check) else _sentences(rule)


def _sentences(sentences_of: Sentences) -> Check:
    def run(value: Any, path: str, _: Any, errors: Errors) -> None:
        if wrong := sentences_of(value):
            errors.extend(all_invalid(path, value, wrong))

    return Check(run, accepts=lambda value: not sentences_of(value))


def _reader(name: str) -> Callable[[Any], Any]:
    """Return a function that reads a field, such as ``spec.controller``, from a struct."""
    if "." not in name:
        return methodcaller("get", name)
    outer, _, inner = name.partition(".")
    read = _reader(inner)
    return lambda struct: read(struct.get(outer) or _EMPTY)


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
