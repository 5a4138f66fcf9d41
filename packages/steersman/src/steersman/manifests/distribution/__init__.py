"""An installation as files: for kubectl and kustomize, for Helm, and for OLM.

    kustomize    install.yaml, and the same objects in pieces
    chart        a Helm chart, with its chart_templates and chart_values
    bundle       a bundle for OLM catalogs, with its cluster_service_version
    catalog      how charts and bundles describe an operator
    scopes       the permissions of an operator by namespace

Takes:     an ``Installation``
Gives:     trees of files
Promises:  - the pieces together are the objects of install.yaml
           - a chart gives the objects of its install.yaml
Never:     adds an object that install.yaml does not contain, unless a value enables it
"""

__all__: list[str] = []
