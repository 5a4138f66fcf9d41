"""Plugins of all tests, those of the examples included."""

pytest_plugins = ["tests.missing_packages"]
