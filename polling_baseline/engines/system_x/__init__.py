"""System X: the paper's relational database, on PostgreSQL, polled or driven by triggers."""
