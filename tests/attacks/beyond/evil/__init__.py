"""The plugin that attacks."""
