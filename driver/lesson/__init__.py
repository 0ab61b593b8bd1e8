"""Exercises that grade themselves: a small road, a file with a hole, and a judge that shows the first fault."""
