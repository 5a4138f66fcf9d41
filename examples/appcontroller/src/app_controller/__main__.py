"""``python -m app_controller``: run the operator, as its container does."""

from app_controller.appservice import manager

if __name__ == "__main__":
    manager.run()
