"""A network looked at from outside: as data, as a drawing, as a forecast."""
