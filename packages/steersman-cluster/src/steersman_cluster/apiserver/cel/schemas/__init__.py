"""Validation rules in the schema of a custom resource.

Takes:     schemas with rules, and objects before and after a write
Gives:     errors of objects, errors of definitions, and the cost of both
Promises:  - an evaluation never costs more than kube-apiserver allows
Never:     stores the result of a rule
"""

__all__: list[str] = []
