"""Plugins of all tests, those of the examples included."""

pytest_plugins = ["tests.cpu_limits", "tests.missing_packages"]
