"""`python -m linear_road`."""

from linear_road import run

if __name__ == "__main__":
    run()
