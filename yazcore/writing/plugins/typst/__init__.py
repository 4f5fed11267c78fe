"""The Typst format: where a thesis begins, what its outline is, what a compilation found wrong."""
