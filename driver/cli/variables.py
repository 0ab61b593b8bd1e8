"""The environment variables that lrb and its parts read; docs/environment.md says more about each."""

from __future__ import annotations

VARIABLES = {
    "PGHOST, PGHOSTADDR, PGPORT, PGDATABASE, PGSERVICE": "a PostgreSQL server to use instead of the embedded one",
    "PGUSER, PGPASSWORD, PGPASSFILE, PGSSLMODE, PGSSLROOTCERT": "how to log in there, and for --dsn",
    "LRB_DRIVER_PASSWORD": "the password of the role lr_driver there",
    "LRB_READER_PASSWORD": "the password of the role lr_reader there, for lrb query",
    "LRB_STATE": "the folder of the embedded server [.lrb of the checkout, or the user's state folder]",
    "LRB_PG_BIN": "the folder of the PostgreSQL programs for it [those of the Python package]",
    "XDG_STATE_HOME": "the user's state folder [~/.local/state]",
    "JAVA_HOME": "a Java 17 or 21 for Spark [the one on PATH, or that of the Python package]",
    "JDK_JAVA_OPTIONS": "options for Java, instead of those that lrb chooses",
    "PYTHONPATH": "what Spark's tasks import, too; our own packages come first",
    "PYSPARK_PYTHON": "the Python of a cluster's workers [as here]",
    "DISPLAY, WAYLAND_DISPLAY": "the screen: with one, lrb watch opens a browser",
}
HELP = "Environment variables:\n" + "\n".join(f"  {names}\n      {text}" for names, text in VARIABLES.items())
