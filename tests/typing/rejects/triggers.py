"""Invalid predicates, mappings and sources are type errors."""

from collections.abc import AsyncIterator, Iterable

import steersman as sm
from steersman import changed
from steersman.kinds import core_v1


def of_pods(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    return old is None or old.spec != new.spec


def of_nodes(old: core_v1.Node | None, new: core_v1.Node) -> bool:
    return old is None or old.spec != new.spec


def one_argument(new: core_v1.Pod) -> bool:
    return True


def names_of(config: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[str]:
    return (config.name,)


async def awaited(config: core_v1.ConfigMap, cached: sm.CacheReader) -> list[sm.ObjectKey]:
    return []


def no_keys(config: core_v1.ConfigMap, cached: sm.CacheReader) -> None:
    return None


def keys(config: core_v1.ConfigMap, cached: sm.CacheReader) -> list[sm.ObjectKey]:
    return []


async def names() -> AsyncIterator[str]:
    yield "web"


changed.any_of(of_pods, of_nodes)(None, core_v1.Pod())  # rejected
changed.any_of(of_pods, changed.generation)(None, core_v1.Node())  # rejected
changed.not_(one_argument)  # rejected
changed.any_of("spec.size")  # rejected
changed.fields(3)  # rejected
changed.fields(["spec", "size"])  # rejected
sm.Watch(core_v1.ConfigMap, to=names_of)  # rejected
sm.Watch(core_v1.ConfigMap, to=awaited)  # rejected
sm.Watch(core_v1.ConfigMap, to=no_keys)  # rejected
sm.Watch(core_v1.Secret, to=keys)  # rejected
sm.Every("60")  # rejected
sm.Every(60, keys=names)  # rejected
sm.Keys(names)  # rejected
