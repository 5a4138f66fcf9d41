"""What every contender is asked to do, in names and numbers they all share."""

from collections.abc import Iterable, Mapping
from zlib import crc32

GROUP = "app.example.com"
VERSION = "v1"
KIND = "AppService"
PLURAL = "appservices"
NAMESPACE = "default"

APPS = f"/apis/{GROUP}/{VERSION}/{PLURAL}"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"

# Of lists in pages: what kubectl, client-go's pager and our client ask for at a time, and what
# the other clients do. Informers get no page size.
PAGE_SIZE = 500

CONFIG_MAP = "small"
CONFIG_MAP_KEY = "motto"
CONFIG_MAP_VALUE = "steady as she goes"

# How many requests are on their way at any moment.
IN_FLIGHT = 10


def held(apps: Iterable[tuple[str | None, str, str, int]]) -> Mapping[str, int]:
    """What a cache holds, in short: how many AppServices, and one number that tells them apart.

    Of each of them its namespace, its name, its image and its size. In which order does not matter.
    """
    lines = [f"{namespace}/{name} {image} {size}" for namespace, name, image, size in apps]
    return {"objects": len(set(lines)), "digest": sum(crc32(line.encode()) for line in lines)}
