"""Objects that built-in rules accept, default or reject, sent to both servers."""
