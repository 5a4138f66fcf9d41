"""Account: a user in a directory outside of the cluster."""

from dataclasses import dataclass
from typing import Literal, Protocol

import steersman as sm

# The directory sends no events, so the operator polls it for other clients' changes.
RECHECK_SECONDS = 600.0
# The delay after a call to which the directory did not respond.
OUTAGE_SECONDS = 30.0


class Spec(sm.Part):
    """The desired state."""

    plan: Literal["free", "paid"] = "free"


class Status(sm.Part):
    """The observed state."""

    account_id: str | None = None
    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Account(sm.CustomResource[Spec, Status], group="accounts.example.com", version="v1"):
    """A user in the directory."""


class DirectoryDown(Exception):
    """The directory did not respond in time."""


class Directory(Protocol):
    """The client of the directory, as the operator uses it. Both calls are idempotent."""

    async def ensure(self, key: str, plan: str) -> str:
        """Create or update the account with this key, and return its id."""
        ...

    async def remove(self, key: str) -> None:
        """Delete the account with this key if it exists."""
        ...


@dataclass(frozen=True)
class Accounts:
    """Reconciles Accounts with a directory."""

    directory: Directory

    async def reconcile(self, account: Account, ctx: sm.Context) -> sm.Outcome:
        """Create or update the account, and report the result in the status."""
        ctx.check_leadership()
        try:
            account_id = await self.directory.ensure(account.uid, account.spec.plan)
        except DirectoryDown as error:
            unknown = sm.Condition.unknown("Ready", reason="DirectoryDown", message=str(error))
            status = Status(account_id=known_id(account), conditions=(unknown,))
            return sm.Later(after_seconds=OUTAGE_SECONDS, status=status)
        ready = sm.Condition.true("Ready", reason="Created")
        status = Status(account_id=account_id, conditions=(ready,))
        return sm.Later(after_seconds=RECHECK_SECONDS, status=status)

    async def finalize(self, account: Account, ctx: sm.Context) -> sm.Outcome:
        """Delete the account before the object is removed."""
        ctx.check_leadership()
        try:
            await self.directory.remove(account.uid)
        except DirectoryDown:
            return sm.Later(after_seconds=OUTAGE_SECONDS)
        return sm.Done()


def known_id(account: Account) -> str | None:
    """Return the id in the status, if there is one."""
    return account.status.account_id if account.status else None


def controller(directory: Directory) -> sm.Controller[Account]:
    """Return the controller for a directory, which is a fake in tests."""
    accounts = Accounts(directory)
    return sm.Controller(
        Account, reconcile=accounts.reconcile, finalize=accounts.finalize, condition="Ready"
    )
