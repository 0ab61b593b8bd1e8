"""Pages that are one file: no network, no scripts, light and dark, for a screen, a phone or paper."""
