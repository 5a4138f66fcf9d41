"""The default storage class, created at the start of the cluster."""

from typing import Final

from steersman.errors import AlreadyExists, SteersmanError
from steersman.kinds import storage_v1
from steersman.manager import Services
from steersman_cluster.workloads.volumes.provisioner import STANDARD, standard_class
from steersman_cluster.workloads.volumes.volume_match import is_default

# An unreachable server is retried after this time.
_RETRY_SECONDS: Final = 1.0


async def create_standard_class(services: Services) -> None:
    """Create the class ``standard``, unless it exists or there is another default class."""
    while True:
        try:
            there = (await services.client.list(storage_v1.StorageClass)).items
            if not any(each.name == STANDARD or is_default(each) for each in there):
                await services.client.create(standard_class())
            return
        except AlreadyExists:
            return
        except SteersmanError:
            await services.clock.sleep(_RETRY_SECONDS)
