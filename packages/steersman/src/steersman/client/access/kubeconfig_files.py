"""The content of kubeconfig files, merged and parsed, but not yet interpreted."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from steersman.client.access.files import CONFIG_BYTES, read_if_exists
from steersman.errors import ConfigError

# A file below both of these limits is also below the limits for YAML.
_SMALL_BYTES: Final = 32 * 1024
_FEW_BRACKETS: Final = 64

# Input that YAML reads differently from JSON, or rejects: characters other than printable ASCII,
# and escaped surrogates.
_ODD: Final = re.compile(rb"[^\n\r\t -~]|\\u[dD]")


class _Part(msgspec.Struct, rename="kebab"):
    """A mapping in the file; an empty text counts as a missing value."""

    def __repr__(self) -> str:
        # Nearly every part contains a secret.
        return f"<{type(self).__name__}>"


class Extension(_Part):
    name: str
    extension: object = None


class KubeconfigCluster(_Part):
    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    tls_server_name: str | None = None
    insecure_skip_tls_verify: bool | None = None
    proxy_url: str | None = None
    extensions: tuple[Extension, ...] | None = None


class Variable(_Part):
    name: str
    value: str | None = None


class Exec(_Part, rename="camel"):
    command: str | None = None
    api_version: str | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Variable, ...] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool | None = None
    interactive_mode: str | None = None


class KubeconfigUser(_Part):
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    as_user: str | None = msgspec.field(default=None, name="as")
    as_uid: str | None = None
    as_groups: tuple[str, ...] | None = None
    as_user_extra: dict[str, tuple[str, ...]] | None = None
    auth_provider: dict[str, object] | None = None
    exec: Exec | None = None


class KubeconfigContext(_Part):
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class _NamedCluster(_Part):
    name: str
    cluster: KubeconfigCluster | None = None


class _NamedUser(_Part):
    name: str
    user: KubeconfigUser | None = None


class _NamedContext(_Part):
    name: str
    context: KubeconfigContext | None = None


class _File(_Part):
    kind: str | None = None
    current_context: str | None = None
    clusters: tuple[_NamedCluster, ...] | None = None
    users: tuple[_NamedUser, ...] | None = None
    contexts: tuple[_NamedContext, ...] | None = None


E = TypeVar("E")


class EntryOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of an entry of a kubeconfig; ``path`` is ``None`` if the origin is not a file."""

    source: str
    path: Path | None


class Entry(msgspec.Struct, Generic[E], frozen=True, kw_only=True):
    """A named cluster, user or context of a kubeconfig, and its origin.

    Relative paths in the entry are relative to the directory of the origin.
    """

    what: str
    name: str
    content: E
    origin: EntryOrigin

    @property
    def place(self) -> str:
        """The entry and its file, for messages: ``user admin in ~/.kube/config``."""
        return f"{self.what} {self.name} in {self.origin.source}"


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    """All entries of the merged kubeconfig files, by name."""

    source: str
    current_context: str
    contexts: Mapping[str, Entry[KubeconfigContext]]
    clusters: Mapping[str, Entry[KubeconfigCluster]]
    users: Mapping[str, Entry[KubeconfigUser]]


def read_entries(paths: Sequence[Path]) -> Entries:
    """Read and merge the kubeconfig files ``paths``.

    If several files define the same name, the first definition is used, as in kubectl. If there are
    several files, a missing or empty file is skipped.
    """
    among_several = len(paths) > 1
    read: list[tuple[EntryOrigin, _File]] = []
    for path in paths:
        content = read_if_exists(path, limit_bytes=CONFIG_BYTES)
        if content is not None and (content.strip() or not among_several):
            origin = EntryOrigin(source=str(path), path=path.absolute())
            read.append((origin, _parse(content, origin)))
    if not read:
        raise ConfigError(
            source=" and ".join(map(str, paths)),
            problem="all of these files are empty" if among_several else "the file does not exist",
            what_now="Name an existing kubeconfig, in $KUBECONFIG or by its path.",
        )
    return _merged(read)


def parse_entries(content: bytes, *, source: str) -> Entries:
    """Parse a kubeconfig that was not read from a file; errors name ``source``."""
    origin = EntryOrigin(source=source, path=None)
    return _merged([(origin, _parse(content, origin))])


def _parse(content: bytes, origin: EntryOrigin) -> _File:
    values = _from_json(content)
    if values is None:
        # Imported here: importing PyYAML takes longer than reading all files.
        from steersman.client.access.yaml_files import parse_yaml_mapping

        values = parse_yaml_mapping(content, source=origin.source)
    try:
        file = msgspec.convert(values, _File)
    except msgspec.ValidationError as error:
        raise ConfigError(
            source=origin.source,
            problem=f"is not a kubeconfig: {error}",
            what_now="Correct that field; text that looks like a number needs quotes.",
        ) from error
    if file.kind not in (None, "", "Config"):
        raise ConfigError(
            source=origin.source,
            problem="is not a kubeconfig: its kind is not Config",
            what_now="Name a file that is a kubeconfig.",
        )
    return file


def _from_json(content: bytes) -> Mapping[str, object] | None:
    """Return the mapping if ``content`` is small, simple JSON; otherwise ``None``, for the YAML
    parser.
    """
    if not content.startswith(b"{") or len(content) > _SMALL_BYTES or _ODD.search(content):
        return None
    if content.count(b"{") + content.count(b"[") > _FEW_BRACKETS:
        return None
    try:
        values: Mapping[str, object] = json.loads(
            content, object_pairs_hook=_each_once, parse_constant=_no_number
        )
    except ValueError:
        return None
    return values


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key appears a second time")
    return values


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _merged(read: Sequence[tuple[EntryOrigin, _File]]) -> Entries:
    return Entries(
        source=" and ".join(origin.source for origin, _ in read),
        current_context=next(
            (file.current_context for _, file in read if file.current_context), ""
        ),
        contexts=_by_name(
            Entry(
                what="context",
                name=each.name,
                content=each.context or KubeconfigContext(),
                origin=origin,
            )
            for origin, file in read
            for each in file.contexts or ()
        ),
        clusters=_by_name(
            Entry(
                what="cluster",
                name=each.name,
                content=each.cluster or KubeconfigCluster(),
                origin=origin,
            )
            for origin, file in read
            for each in file.clusters or ()
        ),
        users=_by_name(
            Entry(what="user", name=each.name, content=each.user or KubeconfigUser(), origin=origin)
            for origin, file in read
            for each in file.users or ()
        ),
    )


def _by_name(entries: Iterable[Entry[E]]) -> dict[str, Entry[E]]:
    first: dict[str, Entry[E]] = {}
    for entry in entries:
        first.setdefault(entry.name, entry)
    return first
