why-project = Um die Dokumente der Projekte zu lesen, zu übersetzen und zu ändern, die Sie öffnen.

permission-look = Sehen, welche Projekte offen sind, und die Hilfe lesen
permission-open = Projekte unterhalb der von Ihnen genannten Ordner öffnen
permission-read = Dokumente, Gliederung und Meldungen eines Projekts lesen
permission-compile = Ein Projekt übersetzen
permission-edit = Dokumente eines Projekts anlegen und ändern

tool-list-projects = Nennt die offenen Projekte, die dir zur Verfügung stehen, mit ihrer projectId, die jedes andere Werkzeug braucht. Beginne hier. Ein Projekt, das fehlt, öffnet open_project unterhalb eines der hier genannten Stammordner (roots).
tool-help = Erklärt die Werkzeuge: ohne Thema (topic) alle in je einer Zeile, mit dem Namen eines Werkzeugs, was es braucht und was seine Argumente bedeuten.
tool-open-project = Öffnet einen Ordner als Projekt und nennt dessen projectId und Dokumente. Schreibt nichts hinein. Nur unterhalb eines Stammordners, mit dessen Namen (root) und einem relativen Pfad. Unnötig für Projekte, die list_projects zeigt.
tool-read-outline = Gibt die Überschriften eines ganzen Projekts in Lesereihenfolge, jede mit Dokument und Zeile, durch alle eingebundenen Dateien. Liest die Quellen und geht darum auch, wenn das Projekt sich nicht übersetzen lässt. Den Text liest read_document.
tool-list-diagnostics = Nennt, was der letzte compile eines Projekts beanstandet hat, Fehler zuerst, mit Dokument, Zeile, Spalte und Hinweisen. Übersetzt nicht: rufe vorher compile auf, und erneut, wenn stale wahr ist.
tool-read-document = Liest Zeilen eines Dokuments, mit der Revision, die edit_document braucht. Weiter geht es bei nextLine, wenn es nicht null ist. Für den Aufbau eines Projekts ist read_outline billiger.
tool-compile = Übersetzt ein Projekt in ein PDF und sagt, ob eines entstand (succeeded) und ob Fehler gemeldet wurden (hasErrors); beides kann wahr sein. Gibt die ersten Meldungen; alle hat list_diagnostics. Ändert keine Dokumente.
tool-create-document = Legt ein neues Dokument mit dem gegebenen Text an. Scheitert, wenn es eines mit diesem Pfad gibt: das ändert edit_document.
tool-edit-document = Ersetzt eine Stelle eines Dokuments: old, Zeichen für Zeichen aus read_document, muss genau einmal vorkommen, und revision muss die eben gelesene sein. Sonst wird nichts geschrieben; was dort stand, ist überschrieben. Danach zeigt compile die Wirkung.

resource-tools = Werkzeuge
resource-tools-text = Jedes Werkzeug mit Wirkung (posture), Geltungsbereich, Berechtigung und Parametern.
resource-permissions = Berechtigungen
resource-permissions-text = Wer du hier bist und was du darfst.
resource-projects = Projekte
resource-projects-text = Die offenen Projekte, die dir zur Verfügung stehen.
resource-document = Dokument
resource-document-text = Der Text eines Dokuments eines Projekts, nach seinem Pfad im Projekt.
resource-pdf = PDF
resource-pdf-text = Das neueste PDF eines Projekts: das seines letzten erfolgreichen compile.
