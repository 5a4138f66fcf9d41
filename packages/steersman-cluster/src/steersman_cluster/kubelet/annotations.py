"""What a Pod can tell the stand-in about how its life is to go, by annotation. Pure.

Of all containers with ``nodes.steersman.dev/WHAT``, or of one with ``…/WHAT.CONTAINER``, which goes
first. Init containers go by those with their name only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from steersman.kinds import core_v1

PREFIX: Final = "nodes.steersman.dev/"

#: On a Pod: how long from getting a node to its first container's start.
START_SECONDS: Final = f"{PREFIX}start-seconds"
#: How long a container runs until it is ready.
READY_SECONDS: Final = f"{PREFIX}ready-seconds"
#: ``"true"``: it never becomes ready.
NEVER_READY: Final = f"{PREFIX}never-ready"
#: How long a container runs until it exits by itself.
RUN_SECONDS: Final = f"{PREFIX}run-seconds"
#: With which code it then exits. Given alone, a container exits at once.
EXIT_CODE: Final = f"{PREFIX}exit-code"
#: ``"missing"``: its image cannot be pulled.
IMAGE: Final = f"{PREFIX}image"
#: On a Pod: how long it takes to end once that is asked of it, within its grace period.
STOP_SECONDS: Final = f"{PREFIX}stop-seconds"
#: How much it uses, for whoever measures.
CPU_USAGE: Final = f"{PREFIX}cpu-usage"
MEMORY_USAGE: Final = f"{PREFIX}memory-usage"

#: On a Node: ``"true"`` if its kubelet has fallen silent.
SILENT: Final = f"{PREFIX}silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How a container's life goes.

    ``ready_seconds`` is ``None`` if it is never ready, ``run_seconds`` if it runs for ever.
    """

    ready_seconds: float | None = 0.0
    run_seconds: float | None = None
    exit_code: int = 0
    image_is_missing: bool = False


FOR_EVER: Final = Script()
AT_ONCE: Final = Script(run_seconds=0.0)


def is_told(pod: core_v1.Pod) -> bool:
    """Whether it tells anything at all."""
    return any(name.startswith(PREFIX) for name in pod.metadata.annotations or ())


def script(pod: core_v1.Pod, container: core_v1.Container, *, is_init: bool) -> Script:
    """How the life of this container of the Pod is to go."""
    spec = pod.spec
    restart_policy = spec.restart_policy if spec is not None else None
    is_sidecar = is_init and container.restart_policy == "Always"
    ends = not is_sidecar and (is_init or (restart_policy or "Always") != "Always")
    usual = AT_ONCE if ends else FOR_EVER
    if not is_told(pod):
        return usual
    said = _Said(pod.annotations, container.name, is_init=is_init)
    exit_code = said.code(EXIT_CODE)
    usual_run = 0.0 if exit_code is not None else usual.run_seconds
    run_seconds = said.seconds(RUN_SECONDS)
    is_never_ready = said.value(NEVER_READY) == "true"
    return Script(
        ready_seconds=None if is_never_ready else said.seconds(READY_SECONDS) or 0.0,
        run_seconds=usual_run if run_seconds is None else run_seconds,
        exit_code=exit_code or 0,
        image_is_missing=said.value(IMAGE) == "missing",
    )


def seconds_of(pod: core_v1.Pod, annotation: str) -> float | None:
    """What an annotation of the Pod as a whole says, if it is a number of seconds."""
    return _seconds(pod.annotations.get(annotation))


def unreadable(pod: core_v1.Pod) -> tuple[str, ...]:
    """What it tells and nobody can make sense of, as sentences."""
    complaints: list[str] = []
    for name, value in (pod.metadata.annotations or {}).items():
        if not name.startswith(PREFIX):
            continue
        what = PREFIX + name.removeprefix(PREFIX).partition(".")[0]
        if what in (START_SECONDS, READY_SECONDS, RUN_SECONDS, STOP_SECONDS):
            if _seconds(value) is None:
                complaints.append(f"{name} is {value!r}, which is no number of seconds")
        elif what == EXIT_CODE and _code(value) is None:
            complaints.append(f"{name} is {value!r}, which is no number from 0 to 255")
        elif what == NEVER_READY and value not in ("true", "false"):
            complaints.append(f"{name} is {value!r}, which is neither true nor false")
        elif what == IMAGE and value not in ("missing", "present"):
            complaints.append(f"{name} is {value!r}, which is neither missing nor present")
    return tuple(complaints)


class _Said:
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
