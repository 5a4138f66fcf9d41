"""``python -m replicaset``: run the operator, as its container does."""

from replicaset.replicaset import manager

if __name__ == "__main__":
    manager.run()
