"""Writing projects: which folders are open, their documents, outlines, compilations and diagnostics (design 8)."""
