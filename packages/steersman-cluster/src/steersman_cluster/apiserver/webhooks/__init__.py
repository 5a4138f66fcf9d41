"""What is outside of the server: webhooks, where they are, what they say, and how to wait for it.

Takes:     inquiries of verbs that cannot go on without somebody's word
Gives:     the answers, and a run of the verb that knows them all
Promises:  - a verb is run again with what it asked for
           - inquiries made together are made at the same time
           - every run happens when the first did
           - a verb that never has enough is given up
Never:     writes, or knows what the answers mean

A verb reads what is there, decides, and writes, in one go. Where it needs the word of a webhook, it
looks for it in what is ``known`` to its request; if it is not there, it raises ``Unanswered``. Till
then nothing has been written. The answers are fetched, and the verb runs again from the start, on
what is there by then. So its last run knows everything, and nobody came in between.

``request_runner`` does this; ``addresses`` finds where a webhook is, ``network`` calls it,
``responses`` reads what it answers, and ``client_config`` validates what configurations say.
"""

from steersman_cluster.apiserver.webhooks.request_runner import (
    Asking,
    Delivered,
    Inquiry,
    NoWayOut,
    Outbound,
    Unanswered,
    Undelivered,
)

__all__ = [
    "Asking",
    "Delivered",
    "Inquiry",
    "NoWayOut",
    "Outbound",
    "Unanswered",
    "Undelivered",
]
