"""Kubernetes' OpenAPI documents of the built-in kinds, reduced to facts, in data files.

Takes:     the module of built-in kinds that a version of a group has: ``apps_v1``
Gives:     its facts: where its kinds are served, and the schemas of its types, without descriptions
Promises:  - a file is read once, when its facts are first loaded
           - each module of built-in kinds has its facts
Never:     judges an object, asks a server, or copies the facts: readers share them

``python -m tools.openapi`` writes the files, from what a real API server serves.
"""

from steersman.openapi.loader import DIRECTORY, VERSION, Facts, load_all_facts, load_facts

__all__ = ["DIRECTORY", "VERSION", "Facts", "load_all_facts", "load_facts"]
