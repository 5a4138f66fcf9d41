"""opdemo: a Kubernetes operator. ``operator.py`` has its controllers."""
