"""Each example end to end: the commands of its document, on a real and an embedded cluster."""
