"""The webhook responses that one request has received so far."""

from collections.abc import Hashable
from typing import Any, TypeAlias

# By the key of the call. A failed call is a response, too.
WebhookResponses: TypeAlias = dict[Hashable, Any]
