"""What the parts do per second; `make bench` prints it, no test depends on it."""
