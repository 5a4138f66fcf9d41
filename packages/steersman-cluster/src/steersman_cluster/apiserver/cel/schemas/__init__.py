"""CEL validation rules in the schema of a custom resource.

Takes:     schemas with rules, and objects before and after a write
Gives:     errors of objects, errors of CustomResourceDefinitions, and the cost of the rules
Promises:  - an evaluation never costs more than kube-apiserver allows
Never:     stores the result of a rule
"""

__all__: list[str] = []
