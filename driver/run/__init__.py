"""One run: options, clock, poller, feed, loop, and the record that it leaves."""
