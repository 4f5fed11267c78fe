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

design = Wie seine Oberfläche beurteilt wird
design-count =
    { $errors ->
        [0] Die Entwurfsregeln finden keinen Fehler
        [one] Die Entwurfsregeln finden einen Fehler
       *[other] Die Entwurfsregeln finden { $errors } Fehler
    }{ $suspicions ->
        [0] {""}
        [one] {""}, einen Verdacht
       *[other] {""}, { $suspicions } Verdachtsfälle
    }{ $waived ->
        [0] {""}
        [one] {""}, einen, auf den sein Autor antwortet
       *[other] {""}, { $waived }, auf die sein Autor antwortet
    }.

wrong = Was daran falsch ist
wrong-nothing = Nichts.
good = { $host } würde es annehmen.
refused = { $errors ->
    [one] { $host } würde es ablehnen: 1 Verstoß.
   *[other] { $host } würde es ablehnen: { $errors } Verstöße.
}
error = Verstoß
warning = Warnung

diff-capabilities = Worum es bittet
diff-permissions = Berechtigungen, die es für seine Aufrufer nennt
diff-tools = Werkzeuge für Agenten
diff-commands = Befehle für Sie
diff-formats = Dokumentformate
diff-resources = Ressourcen für Agenten
diff-prompts = Prompts
diff-settings = Einstellungen
diff-requires = Python-Pakete, die es braucht
diff-plugin = Was es von sich sagt
diff-same = Nichts ändert sich.
diff-narrower = Es bittet um weniger oder bringt weniger mit.
diff-changed = Etwas ändert sich; um mehr bittet es nicht.
diff-wider = Es bittet um mehr, oder Agenten erreichen mehr dadurch.
diff-consent = Es braucht Ihr Ja.
diff-no-consent = Es braucht kein neues Ja.
diff-older = Die zweite Version ist älter als die erste.

asks-more = Bittet um mehr
asks-later = Bittet um mehr, beim ersten Bedarf
asks-part = Bittet noch einmal um einen Teil dessen, worum es bat
asks-less = Bittet um weniger
asks-no-more = Bittet nicht mehr
asks-same = Bittet um dasselbe und sagt anderes dazu
asks-at-once = Bittet sofort und nicht mehr erst beim ersten Bedarf
asks-later-now = Bittet erst beim ersten Bedarf und nicht mehr sofort
asks-before = Vorher

change-added = { $name } ist neu
change-removed = { $name } ist weg
change-changed = { $name } hat sich geändert
change-posture = { $new ->
    [write] Ein Aufruf kann jetzt etwas ändern; vorher las er nur.
   *[read] Ein Aufruf liest jetzt nur; vorher konnte er etwas ändern.
}
change-scope = Eine Berechtigung dafür gilt jetzt { $new }; vorher { $old }.
change-permission = Ein Aufrufer braucht jetzt die Berechtigung { $new } und nicht mehr { $old }.
change-approval = { $new ->
    [ask] Vor jedem Aufruf steht jetzt eine Frage.
   *[none] Vor einem Aufruf steht keine Frage mehr.
}
change-deadlineSeconds = Ein Aufruf darf jetzt { $new } Sekunden dauern; vorher { $old }.
change-maxResult = Ein Ergebnis darf jetzt { $new } Bytes Text haben; vorher { $old }.
change-params = Seine Hinweise zu den Argumenten sind andere.
change-destructive = { $new ->
    [true] Ein Aufruf kann jetzt löschen oder überschreiben.
   *[false] Es sagt nicht mehr, dass ein Aufruf löschen oder überschreiben kann.
}
change-idempotent = { $new ->
    [true] Es sagt jetzt, dass ein zweiter Aufruf mit denselben Argumenten nichts weiter ändert.
   *[false] Es sagt nicht mehr, dass ein zweiter Aufruf mit denselben Argumenten nichts weiter ändert.
}
change-external = { $new ->
    [true] Ein Aufruf kann jetzt über Ihren Rechner hinaus wirken.
   *[false] Es sagt nicht mehr, dass ein Aufruf über Ihren Rechner hinaus wirken kann.
}
change-texts = Es wird anders beschrieben ({ $locales }).
change-other = { $field } ist jetzt { $new }; vorher { $old }.
value-before = vorher: { $value }
value-now = jetzt: { $value }

properties-new = { $part ->
    [outputSchema] Sein Ergebnis hat neue Teile: { $names }.
   *[inputSchema] Es hat neue Argumente: { $names }.
}
properties-gone = { $part ->
    [outputSchema] Seinem Ergebnis fehlt jetzt { $names }.
   *[inputSchema] Es hat die Argumente { $names } nicht mehr.
}
properties-changed = { $part ->
    [outputSchema] Was im Ergebnis unter { $names } steht, kann etwas anderes sein.
   *[inputSchema] Die Argumente { $names } können etwas anderes sein.
}
properties-required = { $part ->
    [outputSchema] Sein Ergebnis hat jetzt immer { $names }.
   *[inputSchema] Die Argumente { $names } müssen jetzt gegeben werden.
}
properties-optional = { $part ->
    [outputSchema] Seinem Ergebnis kann jetzt { $names } fehlen.
   *[inputSchema] Die Argumente { $names } können jetzt wegbleiben.
}
properties-other = { $part ->
    [outputSchema] Was sein Ergebnis sein kann, ist anders.
   *[inputSchema] Was seine Argumente sein können, ist anders.
}

about-name = Sein Name
about-author = Sein Autor
about-description = Seine Beschreibung
about-license = Seine Lizenz
about-repository = Sein Repository
about-minAppVersion = Die älteste Version, mit der es läuft
about-updates = Woher Updates kommen
