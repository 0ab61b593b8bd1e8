"""The PostgreSQL server that comes with the package."""
