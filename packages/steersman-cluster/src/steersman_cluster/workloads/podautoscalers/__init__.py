"""HorizontalPodAutoscalers: the autoscaler controller.

Takes:     HorizontalPodAutoscalers, the scale of their targets, and the usage of the targets' Pods
Gives:     replicas, written to the scale; conditions and events of the autoscaler
Promises:  - the number of replicas follows the use of the Pods
           - a Pod without metrics never makes a change larger
           - the number stays within its bounds and changes no faster than its behavior allows
           - a lower number waits until no higher one was recommended for a while
           - every kind with a scale can be scaled custom resources included
           - without an autoscaler nothing is read or written
Never:     invents a metric, or scales a target with zero replicas
"""

from steersman_cluster.workloads.podautoscalers.controller import runnables

__all__ = ["runnables"]
