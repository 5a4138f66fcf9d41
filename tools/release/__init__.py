"""``make release``: build what a release consists of, and check it as a user would.

``dist/`` then contains a wheel and a source distribution of each project, an SBOM of each wheel,
the release notes, and the SHA-256 checksums of all these. Nothing is published.
"""
