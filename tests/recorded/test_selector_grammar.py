"""The real server and steersman's parser accept and reject the same selectors."""

from urllib.parse import quote

import pytest

from tests.recorded.module_recording import ModuleRecording
from tests.unit.apiserver.request.test_selectors import (
    INVALID,
    INVALID_FIELDS,
    VALID,
    VALID_FIELDS,
)

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps?limit=1"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        *(("labelSelector", text, None) for text in VALID),
        *(("labelSelector", *invalid) for invalid in INVALID.items()),
        *(("fieldSelector", text, None) for text in VALID_FIELDS),
        *(("fieldSelector", *invalid) for invalid in INVALID_FIELDS.items()),
    ],
)
def test_the_server_parses_selectors_as_the_client_does(
    real: ModuleRecording, kind: str, text: str, message: str | None
) -> None:
    with real.caller() as api:
        response = api.call("GET", f"{CONFIG_MAPS}&{kind}={quote(text)}")

    assert response.status == (200 if message is None else 400)
    assert response.json().get("message") == message
