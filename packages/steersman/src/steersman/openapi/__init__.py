"""Kubernetes' OpenAPI documents of the built-in kinds, reduced to facts, in data files.

Takes:     the module of built-in kinds for a group and version: ``apps_v1``
Gives:     its facts: the paths of its kinds, and the schemas of its types, without descriptions
Promises:  - a file is read once, when its facts are first loaded
           - each module of built-in kinds has its facts
Never:     validates an object, sends a request, or copies the facts: readers share them

``python -m tools.openapi`` writes the files, from the documents of kube-apiserver.
"""

from steersman.openapi.loader import DIRECTORY, VERSION, Facts, load_all_facts, load_facts

__all__ = ["DIRECTORY", "VERSION", "Facts", "load_all_facts", "load_facts"]
