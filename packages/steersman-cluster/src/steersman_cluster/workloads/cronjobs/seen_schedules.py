"""By which schedule each CronJob was last looked at: how a new one is told from an old one."""

from typing import Final

from steersman.kinds import batch_v1

CronJob = batch_v1.CronJob

# Nobody says of a CronJob that it is gone: the one that was longest not looked at is forgotten.
REMEMBERED: Final = 10_000


class Schedules:
    """The schedules and zones of CronJobs, by their uids."""

    def __init__(self, *, most: int = REMEMBERED) -> None:
        self._most = most
        self._known: dict[str, tuple[str, str | None]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def is_new(self, cron_job: CronJob) -> bool:
        """Whether it had another schedule when it was last looked at."""
        known = self._known.get(cron_job.uid)
        return known is not None and known != _schedule(cron_job)

    def note(self, cron_job: CronJob) -> None:
        """It has been looked at."""
        self._known.pop(cron_job.uid, None)
        self._known[cron_job.uid] = _schedule(cron_job)
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]


def _schedule(cron_job: CronJob) -> tuple[str, str | None]:
    return cron_job.spec.schedule, cron_job.spec.time_zone
