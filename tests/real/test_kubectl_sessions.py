"""What kubectl prints on the embedded server is what it prints on the real one, line by line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.kubectl_sessions import Session, all_sessions, differences
from tests.real.kubectl_sessions.pairs import Pair, embedded, real, running_pair

SESSIONS = all_sessions()

# A hundred steps are ten seconds, and several times that on a machine with other things to do.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The two servers, and nothing that acts on what they keep."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(real, embedded, directory=directory, controllers=False) as pair:
        yield pair


@pytest.fixture(scope="module")
def controlled_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The two servers, with Kubernetes' own controllers beside each."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(real, embedded, directory=directory, controllers=True) as pair:
        yield pair


def assert_alike(pair: Pair, session: Session, directory: Path) -> None:
    found = differences(session, *pair.told(session))
    if found:
        # Owners of fields are shown in the order of the seconds in which they wrote: two writes
        # within one second on one server may be in two on the other. What lasts is no chance.
        controllers = session.needs_controllers
        with running_pair(real, embedded, directory=directory, controllers=controllers) as fresh:
            found = differences(session, *fresh.told(session))
    assert not found, "\n\n".join(map(str, found))


@pytest.mark.parametrize(
    "session", [each for each in SESSIONS if not each.needs_controllers], ids=str
)
def test_a_session_is_told_alike(pair: Pair, session: Session, tmp_path: Path) -> None:
    assert_alike(pair, session, tmp_path)


@pytest.mark.parametrize("session", [each for each in SESSIONS if each.needs_controllers], ids=str)
def test_a_session_with_controllers_is_told_alike(
    controlled_pair: Pair, session: Session, tmp_path: Path
) -> None:
    assert_alike(controlled_pair, session, tmp_path)
