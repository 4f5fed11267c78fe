"""An old admin API, mirrored: the counterpart of the operations desk."""
