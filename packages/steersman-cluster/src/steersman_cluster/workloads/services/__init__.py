"""Where the Pods of a Service can be reached: its EndpointSlices and its Endpoints.

Takes:     Services with a selector, the Pods that it matches and their nodes; Endpoints that
           somebody wrote by hand for a Service without one
Gives:     EndpointSlices, and the older Endpoints beside them
Promises:  - an endpoint says whether its Pod is ready serves and is terminating
           - a burst of Pod changes becomes one write
           - a slice holds no more than a hundred endpoints
           - a slice is updated rather than made anew
           - nothing is written where nothing has changed
           - endpoints written by hand are mirrored to slices
Never:     touches a slice that another controller looks after, or a Service without a selector
"""

from steersman_cluster.workloads.services.controller import controllers

__all__ = ["controllers"]
