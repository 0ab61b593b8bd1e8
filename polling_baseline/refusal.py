"""The one exception that a user is meant to read."""


class Refusal(Exception):
    """What was asked for cannot be done; the text says why, and what to do next.

    The command line prints it without a stack trace and exits with status 1.
    """
