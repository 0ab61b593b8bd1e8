"""The engine on Spark Structured Streaming: distributed, and written by others."""
