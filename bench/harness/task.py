"""The names and numbers of the work that all contenders share."""

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

# The page size of kubectl, client-go's pager and steersman, which the other clients also use.
# Informers use their own defaults.
PAGE_SIZE = 500

CONFIG_MAP = "small"
CONFIG_MAP_KEY = "motto"
CONFIG_MAP_VALUE = "steady as she goes"

# The number of concurrent requests.
IN_FLIGHT = 10


def cache_summary(apps: Iterable[tuple[str | None, str, str, int]]) -> Mapping[str, int]:
    """A summary of a cache: the number of AppServices, and a checksum that ignores their order.

    ``apps`` has the namespace, the name, the image and the size of each AppService.
    """
    lines = [f"{namespace}/{name} {image} {size}" for namespace, name, image, size in apps]
    return {"objects": len(set(lines)), "digest": sum(crc32(line.encode()) for line in lines)}
