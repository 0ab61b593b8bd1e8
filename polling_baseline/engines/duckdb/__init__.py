"""System X on a column store: the ring of tables in DuckDB, in this process."""
