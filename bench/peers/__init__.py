"""The same operator, written with each of the libraries that are compared."""
