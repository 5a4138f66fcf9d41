"""Raw JSON that is kept as it was received."""

import tracemalloc

from steersman.kinds import Codec, core_v1

LONG_AGO = b'{"metadata": {"managedFields": [{"fieldsV1": {"f:data": {}}}]}, "data": {"x": "%s"}}'


def test_raw_json_does_not_keep_the_response_alive() -> None:
    codec = Codec()
    tracemalloc.start()
    try:
        kept = [
            codec.decode(core_v1.ConfigMap, LONG_AGO % (b"x" * 100_000), wanted="get").metadata
            for _ in range(20)
        ]
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert all(meta.managed_fields for meta in kept)
    assert held_bytes < 1_000_000
