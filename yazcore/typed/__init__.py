"""Tools from typed functions: what a signature says, as a `Tool` with its schemas."""
