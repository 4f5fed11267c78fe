# What agents read of yaz's own tools. Short: every tool's text is in every conversation.

why-project = To read, compile and edit the documents of the projects you open.

permission-look = See which projects are open, and read the help
permission-open = Open projects below the folders you named
permission-read = Read documents, outlines and diagnostics of a project
permission-compile = Compile a project
permission-edit = Make and change documents of a project

tool-list-projects = Lists the projects that are open and yours to use, with their projectId, which every other tool needs. Start here. A project that is not listed is opened with open_project, below one of the roots named here.
tool-help = Explains the tools: without a topic all of them in a line each, with a tool's name as topic what it needs and what its arguments mean.
tool-open-project = Opens a folder as a project and gives its projectId and its documents. Writes nothing into it. Only below a root, by the root's name and a relative path; list_projects names the roots. Not needed for a project that list_projects shows.
tool-read-outline = Gives the headings of a whole project in reading order, each with its document and line, through all included files. It reads the sources, so it also works where the project does not compile. For the text itself use read_document.
tool-list-diagnostics = Lists what the last compile of a project found wrong, errors first, each with document, line, column and hints. It does not compile: call compile first, and again when stale is true.
tool-read-document = Reads lines of one document, with the revision that edit_document needs. Go on at nextLine where it is not null. To see how a project is built, read_outline costs less.
tool-compile = Compiles a project to a PDF and says whether one was made (succeeded) and whether errors were reported (hasErrors); both can be true. Gives the first diagnostics; list_diagnostics has all of them. Documents are not changed.
tool-create-document = Makes a new document with the given text. Fails where one of that path exists: that one is changed with edit_document.
tool-edit-document = Replaces one passage of a document: old, copied character for character from read_document, must be there exactly once, and revision must be the one just read. Nothing is written otherwise; what was there is overwritten. Compile afterwards to see the effect.

resource-tools = Tools
resource-tools-text = Every tool with posture, scope, permission and parameters.
resource-permissions = Permissions
resource-permissions-text = Who you are here, and what you may do.
resource-projects = Projects
resource-projects-text = The open projects that are yours to use.
resource-document = Document
resource-document-text = The text of one document of a project, by its path in the project.
resource-pdf = PDF
resource-pdf-text = The newest PDF of a project: of its last compile that made one.
