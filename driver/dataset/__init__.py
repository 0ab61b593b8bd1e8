"""A data set on disk: its folder, flat files in and out, copies of expressways, statistics."""
