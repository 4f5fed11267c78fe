"""What a plugin says about itself. Nothing in this room ever imports plugin code."""
