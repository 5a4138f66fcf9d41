"""The sample of each kind, which the real server accepts, with its defaults."""

from collections.abc import Iterator
from typing import Any

import msgspec

from steersman.kinds import Codec
from tests.real.samples import samples
from tests.recorded.builtin_rules.cases import HERE, Case


def sample_cases() -> Iterator[Case]:
    codec = Codec()
    for sample in samples("samples"):
        resource = type(sample).resource_type
        body: dict[str, Any] = msgspec.json.decode(codec.encode(sample))
        metadata = body["metadata"]
        if metadata.pop("namespace", None):
            for name in ("involvedObject", "regarding"):
                if name in body:
                    body[name]["namespace"] = HERE
        yield Case(
            says=f"the sample in {body['apiVersion']}",
            plural=resource.plural,
            api_version=body["apiVersion"],
            body=body,
            namespaced=resource.namespaced,
        )
