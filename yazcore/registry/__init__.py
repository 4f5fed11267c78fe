"""A static index of plugins: one JSON document about a folder of wheels and about what is installed (design 9).

Everything in it is read, nothing of a plugin runs. It is the same for the same wheels wherever it is made: entries are
sorted, names of files are relative, and nothing of the machine is in it. `building` makes it, `searching` looks for a
plugin in one, `document` says what it holds.
"""
