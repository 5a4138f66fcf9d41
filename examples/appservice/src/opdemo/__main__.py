"""``python -m opdemo``: run the operator, as its container does."""

from opdemo.operator import manager

if __name__ == "__main__":
    manager.run()
