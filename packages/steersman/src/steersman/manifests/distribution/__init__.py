"""An installation as files: for kubectl and kustomize, for Helm, and for OLM.

    kustomize    install.yaml, and the same in pieces
    chart        a Helm chart, with its chart_templates and chart_values
    bundle       a bundle for OLM catalogs, with its cluster_service_version
    catalog      what charts and bundles say about an operator; scopes, what it is granted where

Takes:     an ``Installation``
Gives:     trees of files
Promises:  - the pieces together are what is installed
           - a chart gives the objects of its install.yaml
Never:     adds an object that install.yaml does not have, unless a value asks for it
"""

__all__: list[str] = []
