"""The schedule of each CronJob at its last reconcile, to detect a changed schedule."""

from typing import Final

from steersman.kinds import batch_v1

CronJob = batch_v1.CronJob

# Deletions are not tracked: the entry that was not used for the longest time is dropped.
REMEMBERED: Final = 10_000


class SeenSchedules:
    """A cache of the schedules and time zones of CronJobs, by uid."""

    def __init__(self, *, most: int = REMEMBERED) -> None:
        self._most = most
        self._known: dict[str, tuple[str, str | None]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def is_new(self, cron_job: CronJob) -> bool:
        """Return whether the schedule has changed since the last reconcile."""
        known = self._known.get(cron_job.uid)
        return known is not None and known != _schedule(cron_job)

    def note(self, cron_job: CronJob) -> None:
        """Store the schedule of a CronJob."""
        self._known.pop(cron_job.uid, None)
        self._known[cron_job.uid] = _schedule(cron_job)
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]


def _schedule(cron_job: CronJob) -> tuple[str, str | None]:
    return cron_job.spec.schedule, cron_job.spec.time_zone
