"""replicaset-from-scratch: as many Pods as somebody wants, in fifty lines."""
