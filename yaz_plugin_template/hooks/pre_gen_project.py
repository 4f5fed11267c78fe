"""Refuse answers that yaz would refuse as a manifest, before a file is written.

`yaz new` asks the rules of yaz itself. This is for `cookiecutter` alone, which runs where no yaz need be installed.
"""

import json
import re
import sys
import unicodedata

ANSWERS = json.loads(r'''{{ cookiecutter | tojson }}''')

RESERVED = {
    "yaz", "core", "mcp", "tools", "permissions", "projects", "project", "result", "help",
    "typst", "latex", "markdown",
}
LONGEST = {"name": 100, "author": 100, "description": 2000}


def id_problem(plugin_id):
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", plugin_id) or len(plugin_id) > 24:
        return f"{plugin_id!r} is not a plugin id: begin with a letter, use a-z, 0-9 and single hyphens, at most 24 characters"
    if plugin_id in RESERVED:
        return f"the id {plugin_id!r} belongs to yaz: choose another"
    return None


def text_problem(key):
    text = ANSWERS[key]
    if not text.strip():
        return f"{key} says nothing: write what people should read"
    if len(text) > LONGEST[key]:
        return f"{key} has {len(text)} characters, and at most {LONGEST[key]} are shown: shorten it"
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in text):
        return f"{key} holds characters that nobody can see: remove them"
    return None


problems = [problem for problem in (id_problem(ANSWERS["plugin_id"]), *map(text_problem, LONGEST)) if problem]
if problems:
    sys.exit("\n".join(problems))
