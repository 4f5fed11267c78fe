"""Judges from outside: the official conformance suite, the Inspector, and the clients that others use.

They need Node.js and a package index, so they stand beside the tests, not among them: `make judges` runs them, and so
does `.ci/run`. Everything they install, they install into a folder of their own that is thrown away.
"""
