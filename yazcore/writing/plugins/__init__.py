"""Plugins that ship with yaz: the same manifest and hooks as anyone's, and no privilege (design 3)."""
