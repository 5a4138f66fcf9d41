"""The recording of one test module: it replays, verifies or records."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    find_binaries,
    fresh_namespace,
    running_real_control_plane,
)
from steersman_cluster.testing.calls import JSON, HttpCaller, HttpResponse
from tests.recorded.canonical import ADDRESS, NAMESPACE, VALUE, Replacements, replacements_for
from tests.recorded.exchanges import Exchange, RecordedRequest, request_value
from tests.recorded.recordings import RecordingError, read_recording, write_recording

# The number of requests before ``call_until`` fails; each takes at least a millisecond.
MAX_REQUESTS = 5000


# A second is new for this time; the rest is enough for the writes of a case.
NEW_SECOND_MICROSECONDS = 200_000


class Mode(StrEnum):
    """What ``--real-responses`` selects."""

    REPLAY = "replay"
    VERIFY = "verify"
    RECORD = "record"


@contextmanager
def open_plane(mode: Mode) -> Iterator[ControlPlane | None]:
    """A new real server during the block; None in replay."""
    if mode is Mode.REPLAY:
        yield None
        return
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        yield plane


class ModuleRecording:
    """The exchanges with the real server of each case and of each fixture of a module.

    ``plane`` is the real server; None in replay.
    """

    def __init__(self, path: Path, *, mode: Mode, plane: ControlPlane | None) -> None:
        self.mode = mode
        self._path = path
        self._plane = plane
        self._recorded = read_recording(path)
        self._asked: dict[str, Any] = {}
        texts = {} if plane is None else {urlsplit(plane.url).netloc: ADDRESS}
        self._known = Replacements(texts=texts)
        self._case: _Scope | None = None

    def start_case(self, name: str) -> None:
        """Replay or record the following requests as those of the case ``name``."""
        self._case = self._scope(name)

    def end_case(self, *, failed: bool) -> None:
        """End the case; if it has failed, its requests may be incomplete."""
        case, self._case = self._case, None
        if case is not None and (not failed or self.mode is Mode.RECORD):
            self._end(case)

    @contextmanager
    def fixture(self, name: str) -> Iterator["RecordedCaller"]:
        """A caller for the set-up of fixture ``name``; the set-up ends with this block."""
        scope = self._scope(f"fixture {name}")
        with self._open_caller() as live:
            yield RecordedCaller(lambda: scope, live)
        found = self._end(scope, fixture=name)
        self._known = self._known.joined(found)

    @contextmanager
    def caller(self) -> Iterator["RecordedCaller"]:
        """A caller of the real server for cases."""
        with self._open_caller() as live:
            yield RecordedCaller(self._current_case, live)

    def value(self, compute: Callable[[ControlPlane], Any]) -> Any:
        """The recorded JSON value that ``compute`` gets from the real server.

        For a case whose requests differ on each run, but not what it compares.
        """
        scope = self._current_case()
        request = RecordedRequest(method=VALUE, path="")
        if self._plane is None:
            return scope.replay(request).json()
        found = compute(self._plane)
        content = request_value(found)
        scope.exchanges.append(Exchange(request=request, status=200, content=content))
        return found

    @contextmanager
    def namespace(self) -> Iterator[str]:
        """Create a namespace and yield its name; after the block, delete it with its objects."""
        if self._plane is None:
            yield NAMESPACE
            return
        with fresh_namespace(self._plane) as name:
            self._known = self._known.joined(Replacements(texts={name: NAMESPACE}))
            yield name

    def wait_for_new_second(self) -> None:
        """Wait until many writes fit into one second: times of managed fields are in seconds."""
        if self._plane is None:
            return
        clock = SystemClock()
        with self._plane.caller() as api:
            while clock.now().microsecond > NEW_SECOND_MICROSECONDS:
                api.call("GET", "/version")

    def define(self, crd: Mapping[str, Any]) -> None:
        """Create a definition, and wait until its objects are served; nothing is recorded."""
        if self._plane is None:
            return
        spec = crd["spec"]
        with self._plane.caller() as api:
            api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
            for version in spec["versions"]:
                path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
                _call_until(lambda each: each.status == 200, api, "GET", path)

    def finish(self, cases: Collection[str] | None) -> None:
        """Write the recording, or fail if it has one that no case asks for.

        ``cases`` are all cases of the module, or None if only some were selected.
        """
        # If the tests of a module are distributed, no process has run them all.
        complete = cases is not None and self._asked.keys() >= set(cases)
        if self.mode is Mode.RECORD:
            old = {} if complete else self._recorded
            write_recording(self._path, {**old, **self._asked})
            return
        if complete and (unused := self._recorded.keys() - self._asked.keys()):
            shown = ", ".join(sorted(unused)[:5])
            raise RecordingError(
                f"{self._path.name} has {len(unused)} recordings that no case asks for: {shown}"
            )

    @contextmanager
    def _open_caller(self) -> Iterator[HttpCaller | None]:
        if self._plane is None:
            yield None
            return
        with self._plane.caller() as live:
            yield live

    def _current_case(self) -> "_Scope":
        assert self._case is not None, "the request is neither of a case nor in a fixture block"
        return self._case

    def _scope(self, name: str) -> "_Scope":
        recorded = self._recorded.get(name)
        if recorded is None and self.mode is not Mode.RECORD:
            raise RecordingError(f"{self._path.name} has no recording of {name!r}")
        return _Scope(name, [Exchange.from_json(each) for each in recorded or ()])

    def _end(self, scope: "_Scope", *, fixture: str = "") -> Replacements:
        if self.mode is Mode.REPLAY:
            scope.end()
            self._asked[scope.name] = None
            return Replacements()
        found = replacements_for(scope.exchanges, known=self._known, scope=fixture)
        every = self._known.joined(found)
        actual = [every.exchange(each) for each in scope.exchanges]
        if self.mode is Mode.VERIFY:
            scope.verify(actual)
        self._asked[scope.name] = [each.as_json() for each in actual]
        return found


class _Scope:
    """The exchanges of one case or fixture: the recorded ones, and those of this run."""

    def __init__(self, name: str, recorded: list[Exchange]) -> None:
        self.name = name
        self.exchanges: list[Exchange] = []
        self._recorded = recorded
        self._position = 0
        self._problem = ""

    def replay(self, request: RecordedRequest) -> HttpResponse:
        """The recorded response to the next request."""
        request = Replacements().request(request)  # sorts managed fields
        # A case that cleans up after an error shows the first error.
        self._problem = self._problem or self._difference(request)
        if self._problem:
            raise RecordingError(self._problem)
        self._position += 1
        return self._recorded[self._position - 1].response

    def _difference(self, request: RecordedRequest) -> str:
        sent = f"{request.method} {request.path}"
        if self._position == len(self._recorded):
            return f"{self.name!r} sends a request that is not recorded: {sent}"
        recorded = self._recorded[self._position].request
        if recorded == request:
            return ""
        return (
            f"{self.name!r} has changed: its request {self._position + 1} is {sent}"
            f"\n{request}, and the recording has\n{recorded}"
        )

    def end(self) -> None:
        """Fail if the recording has more requests."""
        if self._position < len(self._recorded):
            request = self._recorded[self._position].request
            raise RecordingError(
                f"{self.name!r} has changed: it does not send {request.method} {request.path}"
            )

    def verify(self, actual: list[Exchange]) -> None:
        """Fail if the recording is not that of this run."""
        if actual == self._recorded:
            return
        for number, (new, old) in enumerate(zip(actual, self._recorded, strict=False), 1):
            if new != old:
                raise RecordingError(
                    f"the recording of {self.name!r} is out of date: exchange {number} is"
                    f"\n{new}, and the recording has\n{old}"
                )
        raise RecordingError(
            f"the recording of {self.name!r} is out of date: it has {len(self._recorded)}"
            f" requests, and the case sends {len(actual)}"
        )


class RecordedCaller:
    """Calls the real server, or replays its recorded responses."""

    def __init__(self, scope: Callable[[], _Scope], live: HttpCaller | None) -> None:
        self._scope = scope
        self._live = live

    def call(
        self, method: str, path: str, body: object = None, *, sends: str = JSON, accept: str = JSON
    ) -> HttpResponse:
        """Send a request with ``body``, if any; as ``HttpCaller.call``."""
        return self.call_until(lambda _: True, method, path, body, sends=sends, accept=accept)

    def send(self, method: str, path: str, body: object = None, *, sends: str = JSON) -> None:
        """Send a request whose response does not matter: it is not recorded."""
        if self._live is not None:
            self._live.call(method, path, body, sends=sends)

    def call_until(
        self,
        condition: Callable[[HttpResponse], bool],
        method: str,
        path: str,
        body: object = None,
        *,
        sends: str = JSON,
        accept: str = JSON,
    ) -> HttpResponse:
        """Repeat a request until the response fulfills the condition; only that one is recorded."""
        request = RecordedRequest(
            method=method, path=path, body=request_value(body), sends=sends, accept=accept
        )
        if self._live is None:
            return self._scope().replay(request)
        response = _call_until(
            condition, self._live, method, path, body, sends=sends, accept=accept
        )
        self._scope().exchanges.append(Exchange.of(request, response))
        return response


def _call_until(
    condition: Callable[[HttpResponse], bool],
    api: HttpCaller,
    method: str,
    path: str,
    body: object = None,
    **types: str,
) -> HttpResponse:
    response = api.call(method, path, body, **types)
    requests = 1
    while not condition(response):
        assert requests < MAX_REQUESTS, f"{method} {path} never fulfills: {response}"
        requests += 1
        response = api.call(method, path, body, **types)
    return response
