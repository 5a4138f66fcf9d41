"""One client library in each module, used as its documentation shows.

Each has those of the following functions that are measured:

- ``connected(kubeconfig)``, a context manager that returns a client;
- ``list_apps(client)``, which lists the AppServices of the namespace in pages;
- ``get_motto(client)``, which returns a value of a small ConfigMap.
"""
