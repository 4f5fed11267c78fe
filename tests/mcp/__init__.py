"""The face for agents, over real HTTP, with a real host and a small plugin."""
