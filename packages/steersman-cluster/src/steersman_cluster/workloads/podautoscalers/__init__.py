"""How many Pods there should be: HorizontalPodAutoscalers at work.

Takes:     HorizontalPodAutoscalers, the scale of what they scale, its Pods and how much those use
Gives:     new numbers of replicas, written to the scale; conditions, and events on the autoscaler
Promises:  - the number of replicas follows the use of the Pods
           - a Pod without a measurement never makes a change larger
           - the number stays within its bounds and changes no faster than its behavior allows
           - a lower number waits until no higher one was recommended for a while
           - whatever has a scale can be scaled custom resources included
           - without an autoscaler nothing is done
Never:     invents a measurement, or scales what somebody has set to zero
"""

from steersman_cluster.workloads.podautoscalers.controller import runnables

__all__ = ["runnables"]
