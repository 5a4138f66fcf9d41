"""``make test-kubernetes``: run tests of steersman on each supported Kubernetes.

The directory ``modules`` has a go.mod and a go.sum for each version except that of
steersman-cluster, whose wheel contains its own. ``docs/versions/kubernetes.json`` has the results.
"""
