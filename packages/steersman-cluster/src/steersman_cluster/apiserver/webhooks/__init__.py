"""Calls to webhooks, for requests that cannot continue without a webhook's response.

Takes:     a handler, and the webhook calls that it needs
Gives:     the responses, and the result of the handler once it has all responses
Promises:  - a handler is run again with the responses that it needs
           - calls that one run needs are sent concurrently
           - every run reads the time of the first run
           - a handler that never has all responses fails with a timeout
Never:     writes, or interprets a response

A handler is a function that reads objects, decides and writes, without an ``await``. If it needs
the response of a webhook, it looks the response up in the request's ``WebhookResponses``. If the
response is missing, the handler raises ``NeedsWebhook``, and nothing is written. ``RequestRunner``
then makes the calls and runs the handler again from the start, on the current objects. The last run
therefore has every response, and no other write happens between its reads and its write.

``addresses`` determines the address of a webhook, ``network`` calls the webhook, ``responses``
parses the response, and ``client_config`` validates the client configuration of webhooks.
"""

from steersman_cluster.apiserver.webhooks.request_runner import (
    NeedsWebhook,
    RequestRunner,
    WebhookCall,
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)

__all__ = [
    "NeedsWebhook",
    "RequestRunner",
    "WebhookCall",
    "WebhookResponse",
    "WebhookTransport",
    "WebhookUnreachable",
]
