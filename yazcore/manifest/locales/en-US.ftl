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

design = How its surface is judged
design-count =
    { $errors ->
        [0] The design rules find no error
        [one] The design rules find an error
       *[other] The design rules find { $errors } errors
    }{ $suspicions ->
        [0] {""}
        [one] {""}, one suspicion
       *[other] {""}, { $suspicions } suspicions
    }{ $waived ->
        [0] {""}
        [one] {""}, one that its author answers
       *[other] {""}, { $waived } that its author answers
    }.

wrong = What is wrong with it
wrong-nothing = Nothing.
good = { $host } would accept it.
refused = { $errors ->
    [one] { $host } would refuse it: 1 violation.
   *[other] { $host } would refuse it: { $errors } violations.
}
error = violation
warning = warning

diff-capabilities = What it asks for
diff-permissions = Permissions it declares, for those who call it
diff-tools = Tools for agents
diff-commands = Commands for you
diff-formats = Document formats
diff-resources = Resources for agents
diff-prompts = Prompts
diff-settings = Settings
diff-requires = Python packages it needs
diff-plugin = What it says of itself
diff-same = Nothing changes.
diff-narrower = It asks for less, or adds less.
diff-changed = Something changes; it asks for no more.
diff-wider = It asks for more, or agents reach more through it.
diff-consent = It needs your yes.
diff-no-consent = It needs no new yes.
diff-older = The second version is older than the first.

asks-more = Asks for more
asks-later = Asks for more, when it is first needed
asks-part = Asks once more for a part of what it asked for
asks-less = Asks for less
asks-no-more = No longer asks
asks-same = Asks for the same, and says something else of it
asks-at-once = Asks at once, and no longer when it is first needed
asks-later-now = Asks when it is first needed, and no longer at once
asks-before = Before

change-added = { $name } is new
change-removed = { $name } is gone
change-changed = { $name } has changed
change-posture = { $new ->
    [write] A call may now change something; before, it only read.
   *[read] A call now only reads; before, it could change something.
}
change-scope = A permission for it now counts { $new }; before, { $old }.
change-permission = A caller now needs the permission { $new }, and no longer { $old }.
change-approval = { $new ->
    [ask] There is now a question before each call.
   *[none] There is no longer a question before a call.
}
change-deadlineSeconds = A call may now take { $new } seconds; before, { $old }.
change-maxResult = A result may now have { $new } bytes of text; before, { $old }.
change-params = Its notes on arguments differ.
change-destructive = { $new ->
    [true] A call may now delete or overwrite.
   *[false] It no longer says that a call may delete or overwrite.
}
change-idempotent = { $new ->
    [true] It now says that a second call with the same arguments changes nothing more.
   *[false] It no longer says that a second call with the same arguments changes nothing more.
}
change-external = { $new ->
    [true] A call may now reach beyond your machine.
   *[false] It no longer says that a call may reach beyond your machine.
}
change-texts = It is described differently ({ $locales }).
change-other = { $field } is now { $new }; before, { $old }.
value-before = before: { $value }
value-now = now: { $value }

properties-new = { $part ->
    [outputSchema] Its result has the new parts { $names }.
   *[inputSchema] It has the new arguments { $names }.
}
properties-gone = { $part ->
    [outputSchema] Its result no longer has { $names }.
   *[inputSchema] It no longer has the arguments { $names }.
}
properties-changed = { $part ->
    [outputSchema] What stands under { $names } in its result may be something else.
   *[inputSchema] The arguments { $names } may be something else.
}
properties-required = { $part ->
    [outputSchema] Its result now always has { $names }.
   *[inputSchema] The arguments { $names } must now be given.
}
properties-optional = { $part ->
    [outputSchema] Its result may now lack { $names }.
   *[inputSchema] The arguments { $names } may now be left out.
}
properties-other = { $part ->
    [outputSchema] What its result may be differs.
   *[inputSchema] What its arguments may be differs.
}

about-name = Its name
about-author = Its author
about-description = Its description
about-license = Its licence
about-repository = Its repository
about-minAppVersion = The oldest version it runs with
about-updates = Where updates come from
