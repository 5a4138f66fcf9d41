"""Two servers side by side, and the same session told to both at once."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from steersman.clock import SystemClock
from steersman.testing import (
    Cluster,
    find_binaries,
    running_control_plane,
    running_embedded_cluster,
)
from tests.real.kubectl_sessions.comparing import comparable
from tests.real.kubectl_sessions.running import Outcome, Place, told
from tests.real.kubectl_sessions.scripts import Session

Starting: TypeAlias = Callable[[], AbstractContextManager[Cluster]]


def real() -> AbstractContextManager[Cluster]:
    """The real control plane."""
    return running_control_plane(find_binaries(environ=os.environ), clock=SystemClock())


def embedded() -> AbstractContextManager[Cluster]:
    """The embedded one."""
    return running_embedded_cluster(clock=SystemClock())


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two servers that have been told the same so far."""

    first: Cluster
    second: Cluster
    directory: Path

    def told(self, session: Session) -> tuple[list[Outcome], list[Outcome]]:
        """What each says to a session, made comparable."""
        with ThreadPoolExecutor() as threads:
            first, second = threads.map(
                lambda cluster, side: self._side(session, cluster, side),
                (self.first, self.second),
                ("first", "second"),
            )
        return first, second

    def _side(self, session: Session, cluster: Cluster, side: str) -> list[Outcome]:
        place = Place(cluster=cluster, directory=self.directory / session.name / side)
        return [comparable(outcome, place) for outcome in told(session, place)]


@contextmanager
def running_pair(
    first: Starting, second: Starting, *, directory: Path, controllers: bool
) -> Iterator[Pair]:
    """Two servers, with Kubernetes' own controllers beside each if they are wanted."""
    with ExitStack() as until_the_end:
        clusters = [until_the_end.enter_context(each()) for each in (first, second)]
        if controllers:
            for cluster in clusters:
                until_the_end.enter_context(cluster.running_controllers())
        yield Pair(first=clusters[0], second=clusters[1], directory=directory)
