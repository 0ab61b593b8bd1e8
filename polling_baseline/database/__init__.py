"""PostgreSQL: the embedded server or a given one, its schema, and binary COPY in and out."""
