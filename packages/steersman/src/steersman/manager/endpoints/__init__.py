"""The HTTP endpoints of an operator: liveness, readiness, and metrics.

    listener         a server on a socket, while a block runs
    probes           /healthz, /readyz and /metrics as pages over checks
    operator_checks  steersman's own checks
    health_checks    the operator author's checks
    metrics_access   authorizes readers of the metrics, by token_reviews of the API server

Takes:     checks, a metrics registry, addresses
Gives:     listeners that serve kubelets and Prometheus
Promises:  - metrics are served only to clients that may read them
Never:     shows a token or the text of a Secret
"""

__all__: list[str] = []
