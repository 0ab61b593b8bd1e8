"""`python -m linear_road`."""

from . import run

if __name__ == "__main__":
    run()
