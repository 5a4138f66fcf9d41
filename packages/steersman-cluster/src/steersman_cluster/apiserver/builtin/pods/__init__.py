"""Pods, and all that a template of Pods has: containers, volumes, security, scheduling.

Takes:     Pods and templates of them
Gives:     them complete, and what is wrong with them; their parts that change on their own
Promises:  - a small Pod is stored complete
           - what is wrong with a Pod is said with its path
           - a Pod is resized and nothing else changes
Never:     looks at objects of other kinds: ``plugins`` do

``pods`` joins the others; ``pod_specs`` is what the workloads share with it.
"""

__all__: list[str] = []
