"""One client library in each module, used the way its documentation shows.

Each has the same three functions, or those of them that it is measured by:

- ``connected(kubeconfig)``, a block in which there is a client;
- ``list_apps(client)``, every AppService of the namespace, in pages;
- ``get_motto(client)``, one value from one small ConfigMap.
"""
