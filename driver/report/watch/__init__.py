"""Runs on one time line: frames from the data set and from what the engines told, a page that plays them, a server."""

# Expressways that are shown unless others are asked for, and at most.
XWAYS_SHOWN, MOST_XWAYS = 4, 64
