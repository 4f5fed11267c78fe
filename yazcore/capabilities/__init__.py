"""What a plugin may do to the machine: grants, the broker that decides, the services that act, their context."""
