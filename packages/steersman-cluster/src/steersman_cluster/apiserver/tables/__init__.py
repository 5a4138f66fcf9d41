"""Objects as the rows of tables, for clients that show them to people.

Takes:     what is kept of objects, and the moment to which their ages are counted
Gives:     tables with the columns and cells that kube-apiserver 1.36 would give
Promises:  - every built-in kind has a table
           - a custom resource has the columns of its definition
           - a watch names its columns once
           - a row carries as much of its object as was asked for
Never:     changes an object, or says what a column means: that is documentation of Kubernetes

A ``Printer`` is the columns of a kind and a function from an object to its cells. ``builtin`` has
one for each kind; their modules follow the API groups. ``custom`` makes them from definitions.
"""

from steersman_cluster.apiserver.meta.table_columns import Column, Printer
from steersman_cluster.apiserver.tables.custom import custom_printer
from steersman_cluster.apiserver.tables.table import Table, table_of

__all__ = ["Column", "Printer", "Table", "custom_printer", "table_of"]
