"""A plugin for tests: a tool for each thing a call can do."""
