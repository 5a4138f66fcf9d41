"""kubectl prints the same on the embedded server as on the real one, line by line."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.real.kubectl_sessions import Session, all_sessions, differences
from tests.real.kubectl_sessions.pairs import (
    CLUSTERS,
    WORKLOADS,
    Pair,
    embedded,
    real,
    running_pair,
)

SESSIONS = all_sessions()

# How often a session that differed is repeated.
TRIES = 3
LIVING = [each for each in SESSIONS if each.needs_nodes]
CONTROLLED = [each for each in SESSIONS if each.needs_controllers]
SERVERS = [each for each in SESSIONS if not (each.needs_nodes or each.needs_controllers)]

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


@pytest.fixture(scope="module")
def pair_with_our_workloads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Kubernetes' own controllers beside the real server, and ours beside the embedded one."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(*WORKLOADS, directory=directory, hashes_differ=True) as pair:
        yield pair


@pytest.fixture(scope="module")
def pair_of_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The same, and Pods run on our nodes on both sides."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(*CLUSTERS, directory=directory, hashes_differ=True) as pair:
        yield pair


def assert_alike(
    pair: Pair,
    session: Session,
    again: Callable[..., AbstractContextManager[Pair]],
    directory: Path,
) -> None:
    found = differences(session, *pair.run(session))
    for number in range(TRIES):
        if not found:
            break
        # Owners of fields are shown in the order of the seconds in which they wrote: two writes
        # within one second on one server may be in two on the other. What lasts is no chance.
        place = directory / str(number)
        place.mkdir()
        with again(directory=place) as fresh:
            found = differences(session, *fresh.run(session))
    assert not found, "\n\n".join(map(str, found))


@pytest.mark.parametrize("session", SERVERS, ids=str)
def test_a_session_prints_the_same(pair: Pair, session: Session, tmp_path: Path) -> None:
    again = partial(running_pair, real, embedded)
    assert_alike(pair, session, again, tmp_path)


@pytest.mark.parametrize("session", CONTROLLED, ids=str)
def test_a_session_with_controllers_prints_the_same(
    controlled_pair: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, real, embedded, controllers=True)
    assert_alike(controlled_pair, session, again, tmp_path)


@pytest.mark.parametrize("session", CONTROLLED, ids=str)
def test_a_session_with_steersmans_workload_controllers_prints_the_same(
    pair_with_our_workloads: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, *WORKLOADS, hashes_differ=True)
    assert_alike(pair_with_our_workloads, session, again, tmp_path)


@pytest.mark.parametrize("session", LIVING, ids=str)
def test_a_session_on_an_embedded_cluster_prints_the_same(
    pair_of_clusters: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, *CLUSTERS, hashes_differ=True)
    assert_alike(pair_of_clusters, session, again, tmp_path)
