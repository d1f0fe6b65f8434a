"""The wire forms of the proxied APIs: one module reads one API, one writes what a block looks like in it."""
