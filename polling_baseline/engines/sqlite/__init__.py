"""System X in a library: the ring of tables in SQLite, in this process, row by row."""
