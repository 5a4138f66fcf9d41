"""Errors about a rejected Secret do not contain its data."""

from base64 import b64encode

import pytest

from steersman.client import Client, JsonPatch, MergePatch, Patch, StrategicMergePatch
from steersman.errors import ApiError
from steersman.kinds import Unstructured, core_v1, meta_v1
from tests.real.recording_observer import RecordingObserver

AnySecret = Unstructured.of("v1", "Secret")

CANARY = "canary-in-a-secret"
STORED = b64encode(CANARY.encode()).decode()

BROKEN_PATCHES = (
    MergePatch({"dataa": {}}),
    MergePatch({"data": {"other": 7}}),
    MergePatch({"data": {"other": f"{CANARY} is not base64"}}),
    StrategicMergePatch({"data": {"other": f"{CANARY} is not base64"}}),
    StrategicMergePatch({"data": CANARY}),
    StrategicMergePatch({"data": {"$patch": "odd", "other": CANARY}}),
    JsonPatch(JsonPatch.test("/data/key", CANARY)),
    JsonPatch(JsonPatch.add("/dataa", f'{CANARY}": "')),
    JsonPatch(JsonPatch.replace("/data", CANARY)),
)

BROKEN_BODIES = (
    {"stringData": CANARY},
    {"stringData": {"a/b": CANARY}},
    {"stringDataa": {"key": CANARY}},
    {"data": {"key": f"{CANARY} is not base64"}},
    {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": CANARY}},
)


def secret(namespace: str, **body: object) -> Unstructured:
    metadata = {"name": "broken", "namespace": namespace}
    return AnySecret({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **body})


def assert_no_secret(error: ApiError, seen: RecordingObserver) -> None:
    for text in (str(error), repr(error), error.message, repr(error.causes), repr(seen)):
        assert CANARY not in text
        assert STORED not in text


@pytest.mark.parametrize("patch", BROKEN_PATCHES, ids=lambda patch: type(patch).__name__)
async def test_no_secret_appears_in_the_error_for_a_patch(
    client: Client, namespace: str, seen: RecordingObserver, patch: Patch
) -> None:
    meta = meta_v1.ObjectMeta(name="key", namespace=namespace)
    await client.create(core_v1.Secret(metadata=meta, data={"key": CANARY.encode()}))

    with pytest.raises(ApiError) as error:
        await client.patch(core_v1.Secret, "key", patch, namespace=namespace)

    assert_no_secret(error.value, seen)


@pytest.mark.parametrize("body", BROKEN_BODIES, ids=lambda body: next(iter(body)))
async def test_no_secret_appears_in_the_error_for_an_object(
    client: Client, namespace: str, seen: RecordingObserver, body: dict[str, object]
) -> None:
    with pytest.raises(ApiError) as creation:
        await client.create(secret(namespace, **body))
    with pytest.raises(ApiError) as application:
        await client.apply(secret(namespace, **body), field_manager="us")

    assert_no_secret(creation.value, seen)
    assert_no_secret(application.value, seen)


async def test_the_error_for_a_patch_still_has_its_reason(client: Client, namespace: str) -> None:
    meta = meta_v1.ObjectMeta(name="key", namespace=namespace)
    await client.create(core_v1.Secret(metadata=meta, data={"key": CANARY.encode()}))

    with pytest.raises(ApiError, match='unknown field "dataa"') as error:
        await client.patch(core_v1.Secret, "key", MergePatch({"dataa": {}}), namespace=namespace)

    (cause,) = error.value.causes
    assert cause.message == 'Invalid value: strict decoding error: unknown field "dataa"'
