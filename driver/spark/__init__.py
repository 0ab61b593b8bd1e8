"""What runs on Spark: the session, the history and its bulk load."""
