# Was hier fehlt, wird auf Englisch gezeigt.

permission-read = Wörter zählen

command-count = Die Wörter eines Textes zählen

tool-count-words =
    Zählt die Wörter eines Textes; ein Wort ist, was zwischen Leerraum steht.
    Für einen Text, der schon vorliegt; ändert nichts.

words-counted =
    { $count ->
        [one] { $count } Wort
       *[other] { $count } Wörter
    }
