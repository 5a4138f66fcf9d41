"""What webhooks have answered to one request so far."""

from collections.abc import Hashable
from typing import Any, TypeAlias

# By the call that was made; a failure to answer is an answer too.
WebhookAnswers: TypeAlias = dict[Hashable, Any]
