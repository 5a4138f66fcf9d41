"""Benchmarks of steersman, and of other libraries that do the same work."""
