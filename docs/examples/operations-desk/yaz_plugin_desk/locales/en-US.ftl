# What people and agents read. An agent chooses a tool by its text alone.

permission-read = Look at tickets, deployments, runbooks and the inventory
permission-restart = Restart a service
permission-export = Make an export of a service's log

tool-search-tickets =
    Finds tickets by words of their title, newest first, also by state and team.
    Use it whenever a ticket is to be found; for how a service runs at the moment, use get-deployment-status.
    It gives a page of tickets with nextCursor, which is null on the last page, and changes nothing.

tool-get-deployment-status =
    Says how one service runs: its version, its waiting jobs and its health, from the three systems that know them.
    What a system cannot tell at the moment is null and named under unknown; the rest is still given. It changes nothing.
    What to do about a failure stands in the runbook yaz://desk/runbook/SERVICE/FAILURE.

tool-restart-service =
    Restarts one service. Requests that it is working on are lost, and its users notice an outage of some seconds.
    Each restart needs the approval of a person, who reads the reason. Look at get-deployment-status first.
    Where it fails, the service runs as before. It restarts nothing else and changes no version.

tool-create-log-export =
    Collects the log of one service of one day, which takes up to a minute, and keeps it for an hour.
    It gives the URI under which the export is read in pages, and the number of lines, not the lines.
    Only whole days; for what is wrong right now, use get-deployment-status.

resource-runbook = Runbook
resource-runbook-text = What to do when one failure of one service happens, in its current version: numbered steps for a person on duty.
resource-inventory = Service
resource-inventory-text = What is known of one service: the team that answers for it, and what it is for. The current state of the inventory.

setting-store = Where the sample data lies: memory or sqlite
