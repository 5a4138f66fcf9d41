"""One request about a resource, on its way through the server, and the answer to it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from steersman.wire import Request
from steersman_cluster.apiserver.apply.field_manager import FieldManagement
from steersman_cluster.apiserver.authn import AccountTokens
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.negotiation import body_type, header
from steersman_cluster.apiserver.request.options import LONGEST_MANAGER
from steersman_cluster.apiserver.request.request_info import Asked
from steersman_cluster.apiserver.request.resources import Served
from steersman_cluster.apiserver.request.response_encoders import Form
from steersman_cluster.apiserver.request.webhook_answers import Known
from steersman_cluster.apiserver.schema.decoding.decoder import Expected
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.pruner import Path
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.webhooks import Unanswered

if TYPE_CHECKING:
    from steersman_cluster.apiserver.admission import Admission


class Answer(NamedTuple):
    """A status and a body in the form that was asked for; the language is settled later."""

    status: int
    body: bytes


class Call(msgspec.Struct, kw_only=True):
    """What was asked, of what, and what there is to say beside the answer."""

    request: Request
    user: User
    asked: Asked
    served: Served
    store: Store
    form: Form  # how what is answered is shown
    # What is sent and answered is mostly the object itself; where it is its scale, that one's.
    expect: Callable[[], Expected]
    schema: Schema
    manage: Callable[[], FieldManagement]
    may: Callable[[str], None]  # refuses where the user may not use another verb here
    elsewhere: Callable[[Asked], "Call"]  # for what the server itself then does to other objects
    account_tokens: AccountTokens
    # (new, old or None): refuses what the user may not grant to others
    check_grant: Callable[[Object, Object | None], None]
    expected_options: Expected  # how the bodies of deletions are read
    versions: Callable[[], list[Served]]  # the same resource in every version
    admission: "Admission"  # who is to be asked before something is written
    known: Known  # what somebody outside has answered
    learn: Callable[[Unanswered, Known], Awaitable[None]]  # for a watch, which is not run again
    warnings: list[str] = []
    # Where whole numbers were written with a point in the custom resource that was sent.
    whole_floats: Sequence[Path] = ()

    # These two are made when somebody first writes to a kind, and not for those who only read.

    @property
    def expected(self) -> Expected:
        """How what is sent is read."""
        return self.expect()

    @property
    def management(self) -> FieldManagement:
        """Who holds which fields."""
        return self.manage()

    def entry(self) -> Entry | None:
        """What is kept of the object that was asked about."""
        return self.store.entry(self.served, self.asked.namespace, self.asked.name)

    def live(self, entry: Entry) -> Object:
        """What an entry holds, in the version of the request; not to be changed."""
        return self.served.from_stored(entry.value or {})

    @property
    def is_pruned(self) -> bool:
        """Whether what is sent is a custom resource, which keeps only what its schema knows."""
        return self.served.custom and self.schema is self.served.schema

    def delete_options(self) -> DeleteOptions:
        """How to delete, says the caller."""
        return DeleteOptions.of(
            self.asked, self.body, content_type=self.content_type, expected=self.expected_options
        )

    @property
    def body(self) -> bytes:
        """What was sent."""
        return self.request.body or b""

    @property
    def content_type(self) -> str:
        """The language of what was sent."""
        return body_type(self.request)

    @property
    def agent(self) -> str:
        """Who writes, unless they say otherwise: the first word of the User-Agent."""
        name = header(self.request, "User-Agent").partition("/")[0]
        printable = "".join(letter for letter in name if letter.isprintable())
        return printable.encode()[:LONGEST_MANAGER].decode(errors="ignore")
