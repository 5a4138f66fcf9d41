"""replicaset-from-scratch: a ReplicaSet controller in fifty lines."""
