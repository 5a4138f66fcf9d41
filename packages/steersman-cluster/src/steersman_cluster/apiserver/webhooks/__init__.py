"""Calls to webhooks, for requests that cannot go on without an answer.

Takes:     calls that a handler needs, and the handler
Gives:     the answers, and a run of the handler that has them all
Promises:  - a handler is run again with the answers that it needs
           - calls needed together are made at the same time
           - every run happens when the first did
           - a handler that never has enough answers is given up
Never:     writes, or knows what an answer means

A handler reads objects, decides, and writes, without a pause. Where it needs the answer of a
webhook, it looks in the request's ``WebhookAnswers``; without it, it raises ``NeedsWebhook``, and
nothing is written. ``RequestRunner`` makes the calls and runs the handler again from the start, on
the objects as they are by then. So its last run has every answer, and no write came in between.

``addresses`` finds where a webhook is, ``network`` calls it, ``responses`` reads what it answers,
and ``client_config`` validates what configurations say about all that.
"""

from steersman_cluster.apiserver.webhooks.request_runner import (
    NeedsWebhook,
    NoWebhookTransport,
    RequestRunner,
    WebhookCall,
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)

__all__ = [
    "NeedsWebhook",
    "NoWebhookTransport",
    "RequestRunner",
    "WebhookCall",
    "WebhookResponse",
    "WebhookTransport",
    "WebhookUnreachable",
]
