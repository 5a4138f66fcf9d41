"""Kinds that create Pods, and kinds that determine the number of Pods.

Takes:     Deployments and other workloads, Jobs, autoscalers, disruption budgets
Gives:     their rules, and the effect of an eviction on a budget
Promises:  - a minimal Deployment is stored with all defaults
           - most fields of a stateful set are immutable
           - the template of a running Job is immutable
           - an invalid schedule is rejected with the reason
Never:     creates a Pod
"""

__all__: list[str] = []
