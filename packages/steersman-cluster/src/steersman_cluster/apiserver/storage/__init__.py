"""The revision log, and views of the log at a revision.

Takes:     writes, each with the revision of its key on which the write is based
Gives:     objects by key and in order, at any revision that is not compacted; the changes after
           a revision
Promises:  - a write based on an old revision changes nothing
           - a revision is never assigned twice
           - a list at a revision does not change during later writes
           - a read of compacted history fails instead of returning a part
           - every acknowledged write survives a crash
           - damaged data is rejected unless it still contains every write
Never:     interprets an object, reads the clock, or waits
"""

from steersman_cluster.apiserver.storage.log import (
    Compacted,
    Entry,
    Journal,
    Key,
    RevisionConflict,
    RevisionLog,
    WriteFailed,
)
from steersman_cluster.apiserver.storage.sqlite import SqliteJournal
from steersman_cluster.apiserver.storage.view import Page, View

__all__ = [
    "Compacted",
    "Entry",
    "Journal",
    "Key",
    "Page",
    "RevisionConflict",
    "RevisionLog",
    "SqliteJournal",
    "View",
    "WriteFailed",
]
