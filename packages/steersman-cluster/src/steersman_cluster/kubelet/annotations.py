"""The annotations of a Pod that script the behavior of its containers. No I/O.

``nodes.steersman.dev/WHAT`` applies to all containers except init containers.
``nodes.steersman.dev/WHAT.CONTAINER`` applies to the container CONTAINER, which can be an init
container, and takes precedence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from steersman.kinds import core_v1

PREFIX: Final = "nodes.steersman.dev/"

#: On a Pod: the time from its binding to the start of its first container.
START_SECONDS: Final = f"{PREFIX}start-seconds"
#: The time from a container's start until it is ready.
READY_SECONDS: Final = f"{PREFIX}ready-seconds"
#: ``"true"``: the container never becomes ready.
NEVER_READY: Final = f"{PREFIX}never-ready"
#: The time from a container's start until it exits.
RUN_SECONDS: Final = f"{PREFIX}run-seconds"
#: Its exit code. Without a run time, the container exits at once.
EXIT_CODE: Final = f"{PREFIX}exit-code"
#: ``"missing"``: the image cannot be pulled.
IMAGE: Final = f"{PREFIX}image"
#: On a Pod: how long its termination takes, within its grace period.
STOP_SECONDS: Final = f"{PREFIX}stop-seconds"
#: The usage of a container, for autoscaling.
CPU_USAGE: Final = f"{PREFIX}cpu-usage"
MEMORY_USAGE: Final = f"{PREFIX}memory-usage"

#: On a Node: ``"true"`` if its kubelet does not respond.
UNRESPONSIVE: Final = f"{PREFIX}silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The scripted behavior of a container.

    The container becomes ready ``ready_seconds`` after its start, and exits ``run_seconds`` after
    its start with ``exit_code``. If ``ready_seconds`` is ``None``, the container never becomes
    ready. If ``run_seconds`` is ``None``, the container does not exit.
    """

    ready_seconds: float | None = 0.0
    run_seconds: float | None = None
    exit_code: int = 0
    image_is_missing: bool = False


RUNS_FOREVER: Final = Script()
EXITS_AT_ONCE: Final = Script(run_seconds=0.0)


def is_scripted(pod: core_v1.Pod) -> bool:
    """Return whether ``pod`` has an annotation that scripts its containers."""
    return any(name.startswith(PREFIX) for name in pod.metadata.annotations or ())


def script(pod: core_v1.Pod, container: core_v1.Container, *, is_init: bool) -> Script:
    """Return the scripted behavior of ``container``, which is a container of ``pod``.

    ``is_init`` is true for the init containers of the Pod, including its sidecars. Without
    annotations, sidecars run forever, other init containers exit immediately, and main containers
    run forever only if the Pod's restart policy is ``Always``.
    """
    spec = pod.spec
    restart_policy = spec.restart_policy if spec is not None else None
    is_sidecar = is_init and container.restart_policy == "Always"
    ends = not is_sidecar and (is_init or (restart_policy or "Always") != "Always")
    usual = EXITS_AT_ONCE if ends else RUNS_FOREVER
    if not is_scripted(pod):
        return usual
    values = _Annotations(pod.annotations, container.name, is_init=is_init)
    exit_code = values.code(EXIT_CODE)
    usual_run = 0.0 if exit_code is not None else usual.run_seconds
    run_seconds = values.seconds(RUN_SECONDS)
    is_never_ready = values.value(NEVER_READY) == "true"
    return Script(
        ready_seconds=None if is_never_ready else values.seconds(READY_SECONDS) or 0.0,
        run_seconds=usual_run if run_seconds is None else run_seconds,
        exit_code=exit_code or 0,
        image_is_missing=values.value(IMAGE) == "missing",
    )


def seconds_of(pod: core_v1.Pod, annotation: str) -> float | None:
    """Return the value of ``annotation`` as a number of seconds.

    Return ``None`` if the Pod lacks the annotation, or if the value is not a valid number of
    seconds.
    """
    return _seconds(pod.annotations.get(annotation))


def invalid_annotations(pod: core_v1.Pod) -> tuple[str, ...]:
    """Return an error message for each invalid script annotation of ``pod``."""
    complaints: list[str] = []
    for name, value in (pod.metadata.annotations or {}).items():
        if not name.startswith(PREFIX):
            continue
        what = PREFIX + name.removeprefix(PREFIX).partition(".")[0]
        if what in (START_SECONDS, READY_SECONDS, RUN_SECONDS, STOP_SECONDS):
            if _seconds(value) is None:
                complaints.append(f"{name} is {value!r}, which is not a number of seconds")
        elif what == EXIT_CODE and _code(value) is None:
            complaints.append(f"{name} is {value!r}, which is not a number from 0 to 255")
        elif what == NEVER_READY and value not in ("true", "false"):
            complaints.append(f"{name} is {value!r}, which is neither true nor false")
        elif what == IMAGE and value not in ("missing", "present"):
            complaints.append(f"{name} is {value!r}, which is neither missing nor present")
    return tuple(complaints)


class _Annotations:
    __slots__ = ("_annotations", "_is_init", "_name")

    def __init__(self, annotations: Mapping[str, str], name: str, *, is_init: bool) -> None:
        self._annotations = annotations
        self._name = name
        self._is_init = is_init

    def value(self, annotation: str) -> str | None:
        found = self._annotations.get(f"{annotation}.{self._name}")
        if found is None and not self._is_init:
            found = self._annotations.get(annotation)
        return found

    def seconds(self, annotation: str) -> float | None:
        return _seconds(self.value(annotation))

    def code(self, annotation: str) -> int | None:
        return _code(self.value(annotation))


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _code(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 3):
        return None
    code = int(text)
    return code if code <= 255 else None
