"""kubectl prints the same lines with the embedded server as with the real one."""

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

# The number of repetitions of a session whose output differs.
REPETITIONS = 3
WITH_NODES = [each for each in SESSIONS if each.needs_nodes]
WITH_CONTROLLERS = [each for each in SESSIONS if each.needs_controllers]
SERVERS = [each for each in SESSIONS if not (each.needs_nodes or each.needs_controllers)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both servers without controllers."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(real, embedded, directory=directory, controllers=False) as pair:
        yield pair


@pytest.fixture(scope="module")
def controlled_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both servers with kube-controller-manager."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(real, embedded, directory=directory, controllers=True) as pair:
        yield pair


@pytest.fixture(scope="module")
def pair_with_workloads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The real server with kube-controller-manager, the embedded one with steersman's workloads."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(*WORKLOADS, directory=directory, hashes_differ=True) as pair:
        yield pair


@pytest.fixture(scope="module")
def pair_of_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """As ``pair_with_workloads``, with simulated nodes that run Pods in both clusters."""
    directory = tmp_path_factory.mktemp("sessions")
    with running_pair(*CLUSTERS, directory=directory, hashes_differ=True) as pair:
        yield pair


def assert_same_output(
    pair: Pair,
    session: Session,
    again: Callable[..., AbstractContextManager[Pair]],
    directory: Path,
) -> None:
    found = differences(session, *pair.run(session))
    for number in range(REPETITIONS):
        if not found:
            break
        # managedFields are ordered by time in seconds: two writes within one second on one server
        # may differ by a second on the other. Only a repeated difference counts.
        place = directory / str(number)
        place.mkdir()
        with again(directory=place) as fresh:
            found = differences(session, *fresh.run(session))
    assert not found, "\n\n".join(map(str, found))


@pytest.mark.parametrize("session", SERVERS, ids=str)
def test_a_session_prints_the_same(pair: Pair, session: Session, tmp_path: Path) -> None:
    again = partial(running_pair, real, embedded)
    assert_same_output(pair, session, again, tmp_path)


@pytest.mark.parametrize("session", WITH_CONTROLLERS, ids=str)
def test_a_session_with_controllers_prints_the_same(
    controlled_pair: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, real, embedded, controllers=True)
    assert_same_output(controlled_pair, session, again, tmp_path)


@pytest.mark.parametrize("session", WITH_CONTROLLERS, ids=str)
def test_a_session_with_steersmans_workload_controllers_prints_the_same(
    pair_with_workloads: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, *WORKLOADS, hashes_differ=True)
    assert_same_output(pair_with_workloads, session, again, tmp_path)


@pytest.mark.parametrize("session", WITH_NODES, ids=str)
def test_a_session_on_an_embedded_cluster_prints_the_same(
    pair_of_clusters: Pair, session: Session, tmp_path: Path
) -> None:
    again = partial(running_pair, *CLUSTERS, hashes_differ=True)
    assert_same_output(pair_of_clusters, session, again, tmp_path)
