"""Objects as table rows, for clients that print them.

Takes:     stored objects, and the time from which their ages are computed
Gives:     tables with the columns and cells of kube-apiserver 1.36
Promises:  - every built-in kind has a table
           - a custom resource has the printer columns of its definition
           - a watch sends the column definitions once
           - a row contains as much of its object as requested
Never:     changes an object, or describes a column: the Kubernetes documentation does that

A ``Printer`` consists of the columns of a kind and a function from an object to its cells.
``builtin`` assigns a printer to each built-in kind; there is one module of printers for each area
of the API. ``custom`` creates printers from CustomResourceDefinitions.
"""

from steersman_cluster.apiserver.meta.table_columns import Printer, TableColumn
from steersman_cluster.apiserver.tables.custom import custom_printer
from steersman_cluster.apiserver.tables.table import Table, table_of

__all__ = ["Printer", "Table", "TableColumn", "custom_printer", "table_of"]
