"""The engines `exec` and `tcp`: a system that is not ours, driven by lines.  `docs/your-own-system.md` defines them."""
