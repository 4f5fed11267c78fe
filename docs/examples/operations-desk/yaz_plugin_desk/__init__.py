"""An operations desk for agents: tickets, deployments, runbooks, logs."""
