"""ListOptions and WriteOptions from the query, with kube-apiserver's errors."""

import msgspec

from steersman.units import duration_problem
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.request.request_info import FALSE, RequestInfo
from steersman_cluster.apiserver.request.selectors import selected_name

MAX_MANAGER_LENGTH = 128
EXACT, NOT_OLDER_THAN = "Exact", "NotOlderThan"

_INTEGER_LIMIT = 2**63


def boolean(info: RequestInfo, name: str) -> bool | None:
    """Return the query parameter ``name`` as a boolean; None if it is missing.

    Every value except "false" and "0" is true.
    """
    return info.query[name][0].lower() not in FALSE if name in info.query else None


def integer(info: RequestInfo, name: str) -> int | None:
    """Return the query parameter ``name`` as an integer; None if it is missing."""
    text = info.option(name)
    if not text:
        return None
    try:
        if text != text.strip() or "_" in text:
            raise ValueError
        number = int(text)
    except ValueError:
        why = "invalid syntax"
    else:
        if -_INTEGER_LIMIT <= number < _INTEGER_LIMIT:
            return number
        why = "value out of range"
    shown = field_errors.shown(text)
    raise status_errors.bad_request(f"strconv.ParseInt: parsing {shown}: {why}")


def check_deadline(info: RequestInfo) -> None:
    """Reject the query parameter ``timeout`` if it is not a duration.

    Watches are not checked, because they use ``timeoutSeconds``.
    """
    text = info.option("timeout")
    if text and info.verb != "watch" and (problem := duration_problem(text)):
        raise status_errors.bad_request(f"invalid timeout specified in the request URL - {problem}")


def _field_selector(info: RequestInfo) -> str:
    """Return the field selector; a watch with a name in its path selects that name."""
    selector = info.option("fieldSelector")
    if not info.name:
        return selector
    if selector and selected_name(selector) != info.name:
        raise status_errors.bad_request("fieldSelector metadata.name doesn't match requested name")
    return selector or f"metadata.name={info.name}"


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a list or watch."""

    watch: bool
    label_selector: str
    field_selector: str
    resource_version: str
    resource_version_match: str
    limit: int
    continued: str
    timeout_seconds: int | None
    bookmarks: bool
    send_initial_events: bool | None

    @classmethod
    def of(cls, info: RequestInfo) -> "ListOptions":
        """Return the options of a list, a watch or the deletion of a collection."""
        options = cls(
            watch=bool(boolean(info, "watch")),
            label_selector=info.option("labelSelector"),
            field_selector=_field_selector(info),
            resource_version=info.option("resourceVersion"),
            resource_version_match=info.option("resourceVersionMatch"),
            limit=integer(info, "limit") or 0,
            continued=info.option("continue"),
            timeout_seconds=integer(info, "timeoutSeconds"),
            bookmarks=bool(boolean(info, "allowWatchBookmarks")),
            send_initial_events=boolean(info, "sendInitialEvents"),
        )
        if errors := (options._watch_errors() if options.watch else options._list_errors()):
            raise status_errors.invalid("ListOptions.meta.k8s.io", "", errors)
        return options

    def _list_errors(self) -> list[FieldError]:
        errors: list[FieldError] = []
        where, match = "resourceVersionMatch", self.resource_version_match
        if match:
            if not self.resource_version:
                detail = f"{where} is forbidden unless resourceVersion is provided"
                errors.append(field_errors.forbidden(where, detail))
            if self.continued:
                detail = f"{where} is forbidden when continue is provided"
                errors.append(field_errors.forbidden(where, detail))
            if match not in (EXACT, NOT_OLDER_THAN):
                errors.append(field_errors.not_supported(where, match, [EXACT, NOT_OLDER_THAN, ""]))
            if match == EXACT and self.resource_version == "0":
                detail = f'{where} "exact" is forbidden for resourceVersion "0"'
                errors.append(field_errors.forbidden(where, detail))
        if self.send_initial_events is not None:
            detail = "sendInitialEvents is forbidden for list"
            errors.append(field_errors.forbidden("sendInitialEvents", detail))
        return errors

    def _watch_errors(self) -> list[FieldError]:
        errors: list[FieldError] = []
        where, match = "resourceVersionMatch", self.resource_version_match
        if self.send_initial_events is not None and match != NOT_OLDER_THAN:
            detail = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
            errors.append(field_errors.forbidden(where, detail))
        # A watch without a revision starts with the existing objects.
        implied = self.send_initial_events is None and self.resource_version in ("", "0")
        if self.continued and not match and implied:
            detail = f"{where} is forbidden when continue is provided"
            errors.append(field_errors.forbidden(where, detail))
        if match:
            if self.send_initial_events is None:
                detail = f"{where} is forbidden for watch unless sendInitialEvents is provided"
                errors.append(field_errors.forbidden(where, detail))
            if match != NOT_OLDER_THAN:
                errors.append(field_errors.not_supported(where, match, [NOT_OLDER_THAN]))
            if self.continued:
                detail = f"{where} is forbidden when continue is provided"
                errors.append(field_errors.forbidden(where, detail))
        return errors


class WriteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a create, update or patch."""

    dry_run: bool
    field_manager: str
    field_validation: str  # "Ignore", "Warn" or "Strict"
    force: bool | None

    @classmethod
    def of(cls, info: RequestInfo, *, kind: str, is_apply: bool = False) -> "WriteOptions":
        """Return the options of a create, update or patch.

        ``kind`` is, for example, CreateOptions; error messages contain it.
        """
        errors: list[FieldError] = []
        manager, force = info.option("fieldManager"), boolean(info, "force")
        if kind == "PatchOptions":
            if is_apply and not manager:
                errors.append(field_errors.required("fieldManager", "is required for apply patch"))
            if not is_apply and force is not None:
                detail = "may not be specified for non-apply patch"
                errors.append(field_errors.forbidden("force", detail))
        errors += manager_errors(manager, "fieldManager")
        dry_run = info.query.get("dryRun", [])
        errors += dry_run_errors(dry_run)
        validation = info.option("fieldValidation")
        if validation not in ("", "Ignore", "Warn", "Strict"):
            supported = ["", "Ignore", "Strict", "Warn"]
            errors.append(field_errors.not_supported("fieldValidation", validation, supported))
        if errors:
            raise status_errors.invalid(f"{kind}.meta.k8s.io", "", errors)
        return cls(
            dry_run=bool(dry_run),
            field_manager=manager,
            field_validation=validation or "Warn",
            force=force,
        )


def dry_run_errors(dry_run: list[str]) -> list[FieldError]:
    """Return the errors in ``dry_run``, the values of dryRun; the only valid value is All."""
    if all(each == "All" for each in dry_run):
        return []
    return [field_errors.not_supported("dryRun", dry_run, ["All"])]


def manager_errors(manager: str, where: str) -> list[FieldError]:
    """Return the errors in the name of a field manager: its length, unprintable characters."""
    errors: list[FieldError] = []
    if len(manager.encode()) > MAX_MANAGER_LENGTH:
        errors.append(field_errors.too_long(where, "", MAX_MANAGER_LENGTH))
    position = 0
    for letter in () if manager.isprintable() else manager:  # a shortcut: nearly all are printable
        if not letter.isprintable():
            detail = f"invalid character U+{ord(letter):04X} (at position {position})"
            errors.append(field_errors.invalid(where, manager, detail))
        position += len(letter.encode())
    return errors
