"""The `isolated` runtime: each plugin in a worker of its own that the kernel confines (design 5; Linux).

In the worker: import, constructor, hooks, handlers. In the host: everything else, and every act on the machine.

* `wire`, `crossing`: what passes between the two, and how errors and registrations do;
* in the worker: `zygote` (where workers come from), `worker` (its start), `peer` (its threads), `remote` (the context);
* in the host: `spawner` (the zygote's keeper), `reach` (what a worker may read), `link` (one worker's connection),
  `upcalls` (what a worker asks for), `plugin` (a plugin through its workers' lives), `runtime`.
"""
