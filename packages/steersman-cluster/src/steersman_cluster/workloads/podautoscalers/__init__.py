"""HorizontalPodAutoscalers: the autoscaler controller.

Takes:     HorizontalPodAutoscalers, the scale of their targets, and the usage of the targets' Pods
Gives:     replicas, written to the scale; conditions and events of the autoscaler
Promises:  - the replicas follow the usage of the Pods
           - a Pod without metrics never makes a change larger
           - the replicas stay within bounds and change no faster than the behavior allows
           - a lower recommendation waits for the stabilization window
           - every kind with a scale subresource can be scaled, custom resources included
           - without an autoscaler nothing is read or written
Never:     invents a metric, or scales a target with zero replicas
"""

from steersman_cluster.workloads.podautoscalers.controller import runnables

__all__ = ["runnables"]
