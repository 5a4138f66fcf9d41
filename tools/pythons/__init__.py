"""``make test-pythons``: find each supported Python, and run the tests on it.

Interpreters come from the PATH, from pyenv, and, where apt is configured with a mirror of Debian,
from Debian's next release. ``docs/versions/pythons.json`` has the results.
"""
