"""Kinds that create Pods, and kinds that determine the number of Pods.

Takes:     Deployments and other workloads, Jobs, autoscalers, disruption budgets
Gives:     their rules, and the effect of an eviction on a budget
Promises:  - a minimal Deployment is stored with all defaults
           - most of a stateful set cannot change
           - the template of a Job that runs cannot change
           - an invalid schedule is rejected with the reason
Never:     creates a Pod
"""

__all__: list[str] = []
