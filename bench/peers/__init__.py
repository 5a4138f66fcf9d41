"""The same operator and the same informer, written with each library."""
