"""Kinds that make Pods, and those that say how many there are to be.

Takes:     Deployments and their like, Jobs, autoscalers, disruption budgets
Gives:     their rules, and what an eviction makes of a budget
Promises:  - a small Deployment is stored complete
           - most of a stateful set cannot change
           - the template of a Job that runs cannot change
           - an invalid schedule is rejected with the reason
Never:     makes a Pod
"""

__all__: list[str] = []
