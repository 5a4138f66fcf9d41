"""The real server of the cases: a recording, or with ``--real-responses`` a kube-apiserver."""

from collections.abc import Generator, Iterator

import pytest

from steersman_cluster.testing import ControlPlane
from tests.recorded.module_recording import Mode, ModuleRecording, open_plane
from tests.recorded.recordings import SUFFIX

_DESELECTED = pytest.StashKey[set[str]]()
_PASSED = pytest.StashKey[bool]()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        item.config.stash.setdefault(_DESELECTED, set()).add(str(item.path))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.fixture(scope="session")
def mode(request: pytest.FixtureRequest) -> Mode:
    """The mode that ``--real-responses`` selects."""
    return Mode(request.config.getoption("--real-responses"))


@pytest.fixture(scope="session")
def live_plane(mode: Mode) -> Iterator[ControlPlane | None]:
    """The real server for the whole session; None in replay."""
    with open_plane(mode) as plane:
        yield plane


@pytest.fixture(scope="module")
def real(
    request: pytest.FixtureRequest, mode: Mode, live_plane: ControlPlane | None
) -> Iterator[ModuleRecording]:
    """The real server of this module, or its recording."""
    path = request.path.with_name(request.path.name.removesuffix(".py") + SUFFIX)
    recording = ModuleRecording(path, mode=mode, plane=live_plane)
    yield recording
    recording.finish(_all_cases(request))


@pytest.fixture
def namespace(real: ModuleRecording) -> Iterator[str]:
    """The name of a namespace of the real server, which is deleted when the test ends."""
    with real.namespace() as name:
        yield name


@pytest.fixture(autouse=True)
def _case(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test sends to ``real`` is the case of its name."""
    if "real" not in request.fixturenames:
        yield
        return
    recording: ModuleRecording = request.getfixturevalue("real")
    recording.start_case(request.node.name)
    yield
    # A test that was interrupted has no report, and may not have sent all of its requests.
    passed = request.node.stash.get(_PASSED, None)
    if passed is not None:
        recording.end_case(failed=not passed)


def _all_cases(request: pytest.FixtureRequest) -> list[str] | None:
    """The names of all cases of the module, or None if some were not selected."""
    config = request.config
    selected = any(f"{request.path.name}::" in str(each) for each in config.args)
    if selected or str(request.path) in config.stash.get(_DESELECTED, set()):
        return None
    return [
        item.name
        for item in request.session.items
        if item.path == request.path
        and isinstance(item, pytest.Function)
        and "real" in item.fixturenames
    ]
