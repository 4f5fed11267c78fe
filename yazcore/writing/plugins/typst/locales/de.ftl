why-project = Um das Dokument zu finden, mit dem ein Projekt beginnt, und seine Überschriften zu lesen.
format-typst = Typst-Dokument
