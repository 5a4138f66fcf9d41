"""Programs in other languages that do the same work, each built from the sources in its folder."""
