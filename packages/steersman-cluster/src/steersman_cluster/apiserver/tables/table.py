"""The response encoder for tables: each object becomes a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from steersman.clock import Clock
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Printer
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.metadata_encoder import (
    OBJECT,
    MetadataEncoder,
    without_empty,
)
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import (
    WHOLE,
    ResponseEncoder,
    WatchEncoder,
)
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.tables.builtin import builtin_printer
from steersman_cluster.apiserver.tables.custom import CUSTOM_SCALE


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A response encoder for tables of one printer, in one API version of the kind Table.

    ``include`` determines whether a row contains its object, the object's metadata or neither.
    """

    printer: Printer
    version: str
    include: str
    clock: Clock

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """Return a table with one row, for the object of ``entry``."""
        encoder = self.carried()
        carried = None if encoder is None else encoder.one(entry, served)
        return self.single(object_encoder.entry_partial_view(entry, served), carried)

    def unstored(self, obj: Object, served: ServedResource) -> bytes:
        """Return a table with one row, for ``obj``, which has no entry in the revision log."""
        encoder = self.carried()
        carried = None if encoder is None else encoder.unstored(obj, served)
        return self.single(object_encoder.partial_view(obj, served), carried)

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """Return a table with one row, for a document such as a Scale.

        The document is not itself an object of the requested resource.
        """
        encoder = self.carried()
        carried = None if encoder is None else encoder.other(document, custom=custom)
        return self.single(document, carried)

    def unchanged(self, document: Object) -> bytes:
        """Return ``document`` as JSON: it is never shown as a table, such as a Status."""
        return msgspec.json.encode(document)

    def failure(self, status: Object) -> bytes:
        """Return the last line of a watch that ends with the error ``status``."""
        return object_encoder.line(b"ERROR", msgspec.json.encode(status))

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """Return a table with a row for each of ``entries``."""
        encoder, ages, order = self.carried(), Ages(self.clock.now()), self.printer.order
        object_encoder.prefetch(entries, served)
        rows = [
            self._row(
                object_encoder.entry_partial_view(entry, served),
                ages,
                None if encoder is None else encoder.one(entry, served),
            )
            for entry in _sorted(entries, served, order)
        ]
        return self._encoded(rows, without_empty(metadata))

    def lines(self) -> WatchEncoder:
        """Return the encoder of a watch.

        Each line contains a table of one row; only the first line names the columns.
        """
        return _TableLines(self)

    def carried(self) -> ResponseEncoder | None:
        """Return the encoder for the objects inside rows, or None if rows contain no objects.

        Raises an error for an invalid ``includeObject`` in the request.
        """
        match self.include:
            case "" | "Metadata":
                return MetadataEncoder(OBJECT, self.version)
            case "Object":
                return WHOLE
            case "None":
                return None
            case _:
                pass
        shown = field_errors.shown(self.include)
        raise status_errors.bad_request(
            f"Unable to convert to Table as requested: includeObject: Invalid value: {shown}:"
            " must be 'Metadata', 'Object', 'None', or empty"
        )

    def single(self, obj: Object, carried: bytes | None, *, columns: bool = True) -> bytes:
        """Return a table with one row, for ``obj``.

        ``carried`` is the encoded object in the row, or None. The table names its columns if
        ``columns`` is true.
        """
        version = obj["metadata"].get("resourceVersion")
        row = self._row(obj, Ages(self.clock.now()), carried)
        about = {"resourceVersion": version} if version else {}
        return self._encoded([row], about, columns=columns)

    def _row(self, obj: Object, ages: Ages, carried: bytes | None) -> bytes:
        # Encoded row by row: the garbage collector would have to traverse the rows of a long table.
        cells = msgspec.json.encode(self.printer.cells(obj, ages))
        conditions = b""
        if self.printer.conditions is not None and (found := self.printer.conditions(obj)):
            conditions = b',"conditions":' + msgspec.json.encode(found)
        return b"".join((b'{"cells":', cells, conditions, b',"object":', carried or b"null", b"}"))

    def _encoded(
        self, rows: Sequence[bytes], metadata: Mapping[str, object], *, columns: bool = True
    ) -> bytes:
        definitions = [each.definition() for each in self.printer.columns]
        head = {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.version}",
            "metadata": metadata,
            "columnDefinitions": definitions if columns else None,
            "rows": None,
        }
        table = msgspec.json.encode(head)
        if not rows and self.printer.empty_is_null:
            return table
        return b"".join((table.removesuffix(b"null}"), b"[", b",".join(rows), b"]}"))


def _sorted(
    entries: Sequence[Entry], served: ServedResource, order: Callable[[Object], Any] | None
) -> Sequence[Entry]:
    if order is None:
        return entries
    return sorted(
        entries, key=lambda entry: order(object_encoder.entry_partial_view(entry, served))
    )


class _TableLines:
    """The encoder of the lines of one watch."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._form = table.carried()
        self._columns = True  # whether the column definitions have not been sent yet

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """Return the line of an event for an object."""
        carried = None if self._form is None else self._form.one(entry, served)
        return self._line(kind, object_encoder.entry_partial_view(entry, served), carried)

    def deleted(self, entry: Entry, served: ServedResource) -> bytes:
        """Return the DELETED line for an object that the watch no longer selects."""
        gone = object_encoder.last_seen(entry)
        carried = None if self._form is None else self._form.unstored(gone, served)
        return self._line(b"DELETED", object_encoder.partial_view(gone, served), carried)

    def bookmark(self, revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
        """Return the line of a bookmark: one row without an object's data."""
        about = object_encoder.bookmark_metadata(revision, initial_events_end=initial_events_end)
        obj = {"kind": served.gvk.kind, "apiVersion": served.gvk.api_version, "metadata": about}
        encoder = self._form
        if encoder is None and initial_events_end:
            # The annotation k8s.io/initial-events-end is in the metadata of the row's object.
            encoder = MetadataEncoder(OBJECT, self._table.version)
        return self._line(b"BOOKMARK", obj, None if encoder is None else encoder.other(obj))

    def _line(self, kind: bytes, obj: Object, carried: bytes | None) -> bytes:
        table = self._table.single(obj, carried, columns=self._columns)
        self._columns = False
        return object_encoder.line(kind, table)


def table_of(
    info: RequestInfo, served: ServedResource, version: str, *, clock: Clock
) -> Table | None:
    """Return the table encoder for the request ``info``.

    Returns None if the response cannot be a table.
    """
    printer = _printer(served, info.subresource)
    if printer is None:
        return None
    include = info.option("includeObject")
    return Table(printer=printer, version=version, include=include, clock=clock)


def _printer(served: ServedResource, subresource: str) -> Printer | None:
    if not served.custom:
        return builtin_printer(served.group_resource, subresource)
    return CUSTOM_SCALE if subresource == "scale" else served.printer
