"""Objects that built-in rules accept, complete or refuse, and a way to put them to both servers."""
