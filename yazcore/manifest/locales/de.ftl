# Was der Host Menschen über Plugins sagt. Die Sätze der Befugnisse setzen "es bittet darum, ... zu dürfen" fort, in der
# Grundform. Diese Datei dient auch de-DE, de-AT und de-CH.

capability-fs-project = { $access ->
    [write] die Dateien des Projekts lesen und ändern, an dem Sie arbeiten, außer geschützten wie .git und .env
   *[read] die Dateien des Projekts lesen, an dem Sie arbeiten, außer geschützten wie .git und .env
}
capability-fs-project-paths = { $access ->
    [write] { $paths } in dem Projekt lesen und ändern, an dem Sie arbeiten
   *[read] { $paths } in dem Projekt lesen, an dem Sie arbeiten
}
capability-fs-read = Dateien unterhalb von { $path } lesen
capability-fs-read-place = Dateien unterhalb des Ordners lesen, den Sie als { $place } wählen
capability-fs-read-suggested = Dateien unterhalb des Ordners lesen, den Sie als { $place } wählen (Vorschlag: { $suggest })
capability-fs-write = Dateien unterhalb von { $path } lesen und ändern
capability-fs-write-place = Dateien unterhalb des Ordners lesen und ändern, den Sie als { $place } wählen
capability-fs-write-suggested = Dateien unterhalb des Ordners lesen und ändern, den Sie als { $place } wählen (Vorschlag: { $suggest })
capability-net = Daten an { $hosts } senden
capability-net-ports = über den Port { $ports }
capability-net-private = auch unverschlüsselt und im eigenen Netz
capability-net-methods = auch beim bloßen Lesen, mit { $methods }
capability-process = { $commands } ausführen, womit jedes Programm in denselben Grenzen laufen kann
capability-mcp-client = { $count ->
    [one] Daten an Ihren MCP-Server { $servers } senden
   *[other] Daten an Ihre MCP-Server { $servers } senden
}
capability-mcp-client-tools = nur an die Werkzeuge { $tools }
capability-credential = die Geheimnisse { $names } aufbewahren und verwenden, ohne sie zu sehen

sensitive = heikel
optional = wird beim ersten Bedarf erfragt

by = von { $author }
by-licence = von { $author }, Lizenz { $licence }
kind-wheel = Wheel { $file }, { $files ->
    [one] 1 Datei
   *[other] { $files } Dateien
}
kind-sdist = Sdist { $file }, { $files ->
    [one] 1 Datei
   *[other] { $files } Dateien
}
kind-folder = Ordner { $file }, { $files ->
    [one] 1 Datei
   *[other] { $files } Dateien
}
kind-installed = installiert, { $files ->
    [one] 1 Datei
   *[other] { $files } Dateien
}

asks = Worum es bittet
asks-nothing = Um nichts: es erreicht nur seine eigenen Daten.

tools = Werkzeuge für Agenten: { $reads ->
    [one] 1 liest nur
   *[other] { $reads } lesen nur
}, { $writes ->
    [one] 1 ändert etwas
   *[other] { $writes } ändern etwas
}
tools-none = Keine Werkzeuge für Agenten.
posture-read = liest nur
posture-write = ändert etwas
scope-global = für alles
scope-project = in einem Projekt
scope-other = in einem { $scope }
needs = braucht die Berechtigung { $permission }
approval-none = keine Frage vor einem Aufruf
approval-ask = eine Frage vor jedem Aufruf
effect-destructive = es kann löschen oder überschreiben
effect-external = es wirkt über Ihren Rechner hinaus

commands = Befehle für Sie
formats = Dokumentformate
format = { $name } ({ $extensions })
resources = Ressourcen für Agenten
prompts = Prompts
settings = Einstellungen
setting = { $name } ({ $type })
setting-default = { $name } ({ $type }, { $value }, solange Sie nichts anderes setzen)
setting-string = Text
setting-boolean = wahr oder falsch
setting-integer = ganze Zahl
setting-number = Zahl
others = Unter { $key }
permissions = Berechtigungen, die es für seine Aufrufer nennt

updates = Woher Updates kommen
updates-none = Das sagt es nicht.
updates-pypi = Von PyPI, dem Python Package Index.
updates-verified = Bestätigt: { $installer } hat festgehalten, dass es unter seinem Namen installiert wurde, aus einem Index oder einem Ordner mit Wheels.
updates-contradicted = Widerlegt: { $installer } hat festgehalten, dass es von { $url } kam.
updates-unverified = Unbestätigt: es ist nicht festgehalten, woher es kam.
updates-not-installed = Unbestätigt: es ist nicht installiert, also ist nicht festgehalten, woher es kam.
origin = { $installer } hat festgehalten, dass es von { $url } kam.

python = Python-Pakete, die es braucht
python-none = Keine.
python-code = Was davon fehlt, wird mit installiert: Code wie sein eigener.
python-build = Ein Sdist wird gebaut, bevor es installiert wird, und dabei läuft Code mit allen Ihren Rechten. Bei einem Wheel nicht.
python-compiled = Es bringt übersetzten Code mit, den niemand lesen kann: { $file }

wrong = Was daran falsch ist
wrong-nothing = Nichts.
good = { $host } würde es annehmen.
refused = { $errors ->
    [one] { $host } würde es ablehnen: 1 Verstoß.
   *[other] { $host } würde es ablehnen: { $errors } Verstöße.
}
error = Verstoß
warning = Warnung
