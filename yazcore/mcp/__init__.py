"""The face for agents: what a host's gate offers, over MCP (design 7).

`listener` is a loopback server of its own, switched on and off; `asgi` puts the same server into another application.
`surface` and `results` are the wire's shapes as plain data and load no SDK; `server` is what answers. Nothing outside
this package imports `mcp`: it costs 350 ms and 30 MB, which only whoever serves should pay (mcp D10).
"""
