"""Spark itself: its session, its Java, work in units, tables as single files."""
