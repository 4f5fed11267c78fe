"""yaz itself: a host for writing projects, built on the public names of `yazcore` alone (design 3, floor 7)."""
