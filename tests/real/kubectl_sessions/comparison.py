"""The steps of a session that differ."""

import difflib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tests.real.kubectl_sessions.normal import (
    normal,
    without_intermediate_states,
    without_unpublished_texts,
)
from tests.real.kubectl_sessions.runner import Outcome, Place
from tests.real.kubectl_sessions.scripts import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A step whose output differs between the servers."""

    session: str
    real: Outcome
    embedded: Outcome

    def __str__(self) -> str:
        command = shlex.join(("kubectl", *self.real.arguments))
        lines = [f"{self.session}:{self.real.line}: $ {command}"]
        for name in ("status", "stdout", "stderr"):
            left, right = (str(getattr(each, name)) for each in (self.real, self.embedded))
            lines += difflib.unified_diff(
                left.splitlines(),
                right.splitlines(),
                f"{name} of the real cluster",
                f"{name} of the embedded cluster",
                lineterm="",
                n=1,
            )
        return "\n".join(lines)


def comparable(outcome: Outcome, place: Place, *, hashes: bool = False) -> Outcome:
    """The outcome without values of one server; with ``hashes``, without hashes of controllers."""
    names = {
        place.cluster.url: "<server>",
        place.cluster.url.removeprefix("https://"): "<address>",
        place.cluster.url.rpartition(":")[2]: "<server's port>",
        str(place.directory): "<home>",
    }
    headers = "--no-headers" not in outcome.arguments
    stdout = normal(outcome.stdout, names=names, headers=headers, hashes=hashes)
    if outcome.arguments[0] == "explain":
        stdout = without_unpublished_texts(stdout)
    if outcome.arguments[:2] == ("rollout", "status"):
        stdout = without_intermediate_states(stdout, done=outcome.status == 0)
    return Outcome(
        line=outcome.line,
        arguments=outcome.arguments,
        status=outcome.status,
        stdout=stdout,
        stderr=normal(outcome.stderr, names=names, headers=True, hashes=hashes),
    )


def differences(
    session: Session, real: Sequence[Outcome], embedded: Sequence[Outcome]
) -> list[Difference]:
    """The steps whose comparable outcomes differ."""
    return [
        Difference(session=session.name, real=left, embedded=right)
        for left, right in zip(real, embedded, strict=True)
        if left != right
    ]
