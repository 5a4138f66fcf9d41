"""The HTTP pages of an operator: liveness, readiness, and metrics.

A response lists the names of checks. The reason of a failed check is logged, and is in the response
only if the check is public. With ``?verbose``, the response also names some of the objects whose
reconciles hang.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.names import ObjectRef
from steersman.observe import Observer, ResponseFailed
from steersman.wire import CertificateIdentity, Reply, Request

if TYPE_CHECKING:
    from steersman.observe import CollectorRegistry

Page: TypeAlias = Callable[[Request], Reply]

_TEXT: Final = "text/plain; charset=utf-8"
_READS: Final = ("GET", "HEAD")

# The number of objects that a reply names.
_NAMED: Final = 10


class Check(msgspec.Struct, frozen=True):
    """A condition of an operator; ``is_ok`` returns ``None`` if it holds, else the reason.

    Every probe calls ``is_ok``, so the function may only use facts that are already known. If
    ``is_public``, the response to the probe includes the reason. ``detail`` returns further
    information for people, or ``""``.
    """

    name: str
    is_ok: Callable[[], str | None]
    is_public: bool = False
    detail: Callable[[], str] = str


def failing(checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
    """Return the name of each failed check, with the reason."""
    found = ((check.name, _why_not(check)) for check in checks)
    return tuple((name, why) for name, why in found if why is not None)


def _why_not(check: Check) -> str | None:
    try:
        return check.is_ok()
    except AUTHOR_ERRORS as error:
        failure_of(error)
        return f"the check itself failed: {type(error).__name__}"


def named_objects(what: str, refs: Sequence[ObjectRef]) -> str:
    """Return the number of objects in ``refs``, and as many of their names as fit on a line.

    ``what`` describes the objects. Without objects, return ``""``.
    """
    if not refs:
        return ""
    more = f" and {len(refs) - _NAMED} more" if len(refs) > _NAMED else ""
    return f"{len(refs)} {what}: {', '.join(map(str, refs[:_NAMED]))}{more}"


class Routes:
    """A request handler that serves each of ``pages`` at its path.

    If a page raises an exception, the exception is observed, and is not shown to the client.
    """

    def __init__(self, pages: Mapping[str, Page], *, observe: Observer) -> None:
        self._pages = MappingProxyType(dict(pages))
        self._observe = observe

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths at which there is a page."""
        return tuple(self._pages)

    async def handle(
        self,
        request: Request,
        *,
        certificate: CertificateIdentity | None = None,  # noqa: ARG002 - a RequestHandler gets it
    ) -> Reply:
        """Return the page at the path of ``request``.

        For a HEAD request, the listener omits the body of the reply.
        """
        page = self._pages.get(request.path)
        if page is None:
            return text_reply(404, "not found")
        if request.method not in _READS:
            return text_reply(405, "method not allowed", ("Allow", ", ".join(_READS)))
        try:
            return page(request)
        except AUTHOR_ERRORS as error:
            failure = failure_of(error)
            self._observe(ResponseFailed(method=request.method, path=request.path, error=failure))
            return text_reply(500, "internal error")


def probe_pages(
    *, live: Callable[[], Sequence[Check]], ready: Callable[[], Sequence[Check]]
) -> Mapping[str, Page]:
    """Return the pages ``/healthz``, ``/livez`` and ``/readyz``.

    The first two call ``live`` for their checks, and ``/readyz`` calls ``ready``. With
    ``?verbose``, the response lists every check, also those that pass.
    """
    return {
        "/healthz": _check_page("healthz", live),
        "/livez": _check_page("livez", live),
        "/readyz": _check_page("readyz", ready),
    }


def metrics_pages(registry: "CollectorRegistry") -> Mapping[str, Page]:
    """Return the page ``/metrics`` with the metrics of ``registry``."""
    # Imported here: prometheus_client takes long to import, and probes do not need it.
    from steersman.observe import metrics_text

    def page(request: Request) -> Reply:
        # In the event loop, not in a thread, because collectors read its data. So scrapes run one
        # at a time; a line takes some 10 µs, and an operator has a thousand.
        content_type, body = metrics_text(registry, accept=header(request, "accept"))
        return Reply(status=200, headers=_headers(content_type), body=body)

    return {"/metrics": page}


def header(request: Request, name: str) -> str:
    """Return the values of all headers named ``name``, joined as HTTP permits.

    ``name`` is in lower case. Without such a header, return ``""``.
    """
    return ", ".join(value for key, value in request.headers if key.lower() == name)


def text_reply(status: int, text: str, *headers: tuple[str, str]) -> Reply:
    """Return a reply whose body is the line ``text``; ``headers`` are additional headers."""
    return Reply(status=status, headers=(*_headers(_TEXT), *headers), body=f"{text}\n".encode())


def _headers(content_type: str) -> tuple[tuple[str, str], ...]:
    return (
        ("Content-Type", content_type),
        # Do not cache, because the state changes; no browser may interpret the reply as HTML.
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    )


def _detail(check: Check) -> str:
    detail = check.detail()
    return f": {detail}" if detail else ""


def _check_page(name: str, checks: Callable[[], Sequence[Check]]) -> Page:
    def page(request: Request) -> Reply:
        # By check, because two caches of one kind have the same name.
        results = [(check, _why_not(check)) for check in checks()]
        is_well = all(why_not is None for _, why_not in results)
        is_verbose = any(key == "verbose" for key, _ in request.query)
        if is_well and not is_verbose:
            return text_reply(200, "ok")
        lines = [
            f"[+]{check.name} ok{_detail(check)}"
            if why_not is None
            else _failed_line(check, why_not)
            for check, why_not in results
            if is_verbose or why_not is not None
        ]
        verdict = "passed" if is_well else "failed"
        return text_reply(200 if is_well else 503, "\n".join([*lines, f"{name} check {verdict}"]))

    return page


def _failed_line(check: Check, why_not: str) -> str:
    line = f"[-]{check.name} failed"
    # One line for each check, even if its text has several.
    return f"{line}: {' '.join(why_not.split())}" if check.is_public else line
