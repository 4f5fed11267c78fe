"""What a plugin that wants to get out can do: each attack really tried, inside a plugin, in both runtimes.

    python -m tests.attacks            the table, both runtimes side by side; status 1 where one is not as expected

`evil/` is the plugin: one function an attack. `attack.py` says what each tries, how the outside world can tell that it
worked, and what is expected in each runtime, reason included: an attack that works beyond the documented list fails,
and so does a changed reason. Nothing outside the world's own folder is harmed: what kills its host kills a child.
"""
