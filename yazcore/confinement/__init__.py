"""What a process gives up for good, with the Linux kernel's help: files (Landlock), system calls (seccomp), limits.

Nothing here knows plugins. Every function acts on the process that calls it, which must have no other threads, and none
can be undone. No library: `ctypes` is enough for the five system calls, and the packages that wrap them are compiled,
alpha, or turn a refusal into silence (capabilities B6).
"""
