"""The endpoint, endpointslice and endpointslice-mirroring controllers of Services.

Takes:     Services with a selector, the selected Pods and their nodes; Endpoints that are written
           by hand for Services without a selector
Gives:     EndpointSlices, and the deprecated Endpoints
Promises:  - an endpoint is marked as ready, serving and terminating
           - a burst of Pod changes becomes one write
           - a slice holds no more than a hundred endpoints
           - a slice is updated rather than replaced
           - an unchanged Service writes nothing
           - endpoints written by hand are mirrored to slices
Never:     changes a slice that another controller manages, or serves a Service without a selector
"""

from steersman_cluster.workloads.services.controller import controllers

__all__ = ["controllers"]
