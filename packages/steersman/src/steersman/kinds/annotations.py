"""The annotations in the body of a class, on each version of Python.

Up to Python 3.13, and with ``from __future__ import annotations`` on every version, a class body
stores its annotations. Otherwise, from Python 3.14 on, it stores a function that computes them
(PEP 649). In its result, a name that has no value yet is a ``ForwardRef``, which is resolved when
the first object is decoded, like an annotation in quotes.
"""

import sys
from collections.abc import Mapping
from typing import Any

if sys.version_info >= (3, 14):
    from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace


def own_annotations(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations in ``namespace``, which is the body of a class or its ``__dict__``."""
    stored: dict[str, Any] | None = namespace.get("__annotations__")
    if stored is not None:
        return stored
    if sys.version_info >= (3, 14):
        annotate = get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            try:
                return annotate(Format.VALUE)
            except NameError:
                return call_annotate_function(annotate, Format.FORWARDREF)
    return {}


def store_annotations(body: dict[str, Any]) -> dict[str, Any]:
    """Return the annotations in ``body``, the body of a class, after they have been stored there.

    The class then has these annotations, changed ones included, and never computes others.
    """
    annotations = body["__annotations__"] = own_annotations(body)
    body.pop("__annotate_func__", None)
    return annotations
