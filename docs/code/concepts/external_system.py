"""An operator with a client of a mail server, a readiness check and a metric."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import Counter

import steersman as sm
from steersman.kinds import core_v1


class Spec(sm.Part):
    """The desired state."""

    address: str


class Mailbox(sm.CustomResource[Spec, sm.Part], group="mail.example.com", version="v1"):
    """A mailbox on an external mail server."""


class MailServer:
    """A stand-in for the client of the mail server."""

    def __init__(self) -> None:
        self.is_up = True
        self.boxes: set[str] = set()

    async def ping(self) -> bool:
        return self.is_up

    async def create(self, address: str) -> None:
        self.boxes.add(address)

    async def close(self) -> None:
        self.is_up = False


CREATED = Counter("mail_boxes_created", "Mailboxes that were created.", registry=None)


@asynccontextmanager
async def lifespan(services: sm.Services) -> AsyncIterator[MailServer]:
    server = MailServer()
    yield server
    await server.close()


async def mail_server(services: sm.Services) -> str | None:
    is_up = await services.lifespan(MailServer).ping()
    return None if is_up else "the mail server does not respond"


def only_metadata(secret: core_v1.Secret) -> core_v1.Secret:
    return sm.replace(secret, data=None)


async def reconcile(mailbox: Mailbox, ctx: sm.Context) -> sm.Outcome:
    server = ctx.lifespan(MailServer)
    if mailbox.spec.address not in server.boxes:
        await server.create(mailbox.spec.address)
        CREATED.inc()
    return sm.Done()


controller = sm.Controller(Mailbox, reconcile=reconcile, watches=(sm.Watch(core_v1.Secret),))

manager = sm.Manager(
    controllers=[controller],
    lifespan=lifespan,
    metrics=[CREATED],
    readyz=[sm.HealthCheck("mail-server", mail_server)],
    caches=[sm.CacheOptions(core_v1.Secret, namespaces=("mail",), transform=only_metadata)],
)

if __name__ == "__main__":
    manager.run()
