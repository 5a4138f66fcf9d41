"""The HTTP endpoints of an operator: whether it lives, whether it is ready, and its metrics.

    listener         a socket while a block runs
    probes           /healthz, /readyz and /metrics as pages over checks
    operator_checks  the checks of steersman's own; health_checks has the author's
    metrics_access   who may read the metrics, by token_reviews of the API server

Takes:     checks, a metrics registry, addresses
Gives:     listeners that answer kubelets and Prometheus
Promises:  - metrics are served only to clients that may read them
Never:     shows a token or the text of a Secret
"""

__all__: list[str] = []
