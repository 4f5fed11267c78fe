why-project = To find the document a project begins with, and to read its headings.
format-typst = Typst document
