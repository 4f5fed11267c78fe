# What the host says of plugins to people. Arguments are escaped texts. Sentences of capabilities continue "it asks to";
# in this language they are those of the capability kinds, word for word.

capability-fs-project = { $access ->
    [write] read and write the files of the project you work in, except protected ones such as .git and .env
   *[read] read the files of the project you work in, except protected ones such as .git and .env
}
capability-fs-project-paths = { $access ->
    [write] read and write { $paths } in the project you work in
   *[read] read { $paths } in the project you work in
}
capability-fs-read = read files below { $path }
capability-fs-read-place = read files below the folder you choose as { $place }
capability-fs-read-suggested = read files below the folder you choose as { $place } (suggested: { $suggest })
capability-fs-write = read and write files below { $path }
capability-fs-write-place = read and write files below the folder you choose as { $place }
capability-fs-write-suggested = read and write files below the folder you choose as { $place } (suggested: { $suggest })
capability-net = send data to { $hosts }
capability-net-ports = on port { $ports }
capability-net-private = also unencrypted and inside your own network
capability-net-methods = also while only reading, with { $methods }
capability-process = run { $commands }, which can run any program inside the same limits
capability-mcp-client = { $count ->
    [one] send data to your MCP server { $servers }
   *[other] send data to your MCP servers { $servers }
}
capability-mcp-client-tools = to the tools { $tools } only
capability-credential = keep and use, without seeing them, the secrets { $names }

sensitive = sensitive
optional = asked for when it is first needed

by = by { $author }
by-licence = by { $author }, licence { $licence }
kind-wheel = wheel { $file }, { $files ->
    [one] 1 file
   *[other] { $files } files
}
kind-sdist = sdist { $file }, { $files ->
    [one] 1 file
   *[other] { $files } files
}
kind-folder = folder { $file }, { $files ->
    [one] 1 file
   *[other] { $files } files
}
kind-installed = installed, { $files ->
    [one] 1 file
   *[other] { $files } files
}

asks = What it asks for
asks-nothing = Nothing: it reaches its own data alone.

tools = Tools for agents: { $reads ->
    [one] 1 only reads
   *[other] { $reads } only read
}, { $writes ->
    [one] 1 changes something
   *[other] { $writes } change something
}
tools-none = No tools for agents.
posture-read = only reads
posture-write = changes something
scope-global = for everything
scope-project = in one project
scope-other = in one { $scope }
needs = needs the permission { $permission }
approval-none = no question before a call
approval-ask = a question before each call
effect-destructive = it may delete or overwrite
effect-external = it reaches beyond your machine

commands = Commands for you
formats = Document formats
format = { $name } ({ $extensions })
resources = Resources for agents
prompts = Prompts
settings = Settings
setting = { $name } ({ $type })
setting-default = { $name } ({ $type }, { $value } unless you set it)
setting-string = text
setting-boolean = true or false
setting-integer = whole number
setting-number = number
others = Under { $key }
permissions = Permissions it declares, for those who call it

updates = Where updates come from
updates-none = It does not say.
updates-pypi = From PyPI, the Python Package Index.
updates-verified = Verified: { $installer } recorded that it was installed by name, from an index or a folder of wheels.
updates-contradicted = Contradicted: { $installer } recorded that it came from { $url }.
updates-unverified = Unverified: nothing is recorded of where it came from.
updates-not-installed = Unverified: it is not installed, so nothing is recorded of where it came from.
origin = { $installer } recorded that it came from { $url }.

python = Python packages it needs
python-none = None.
python-code = What of them is missing is installed with it: code like its own.
python-build = An sdist is built before it is installed, and its build runs code with all of your rights. A wheel is not.
python-compiled = It brings compiled code, which nobody can read: { $file }

wrong = What is wrong with it
wrong-nothing = Nothing.
good = { $host } would accept it.
refused = { $errors ->
    [one] { $host } would refuse it: 1 violation.
   *[other] { $host } would refuse it: { $errors } violations.
}
error = violation
warning = warning
