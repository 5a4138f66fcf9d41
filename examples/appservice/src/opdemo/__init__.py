"""opdemo: a Kubernetes operator. ``operator.py`` says what it is made of."""
