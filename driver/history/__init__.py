"""History from elsewhere, and its way into PostgreSQL."""
