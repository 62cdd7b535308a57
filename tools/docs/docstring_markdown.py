"""Docstrings are plain text with examples; as Markdown, examples are blocks, and nothing else is markup but `code`."""

import re

# What would be emphasis, a link or a tag. Code spans are found first, and stay.
MARKUP = re.compile(r"(`[^`]*`)|([*_\[\]<\\#|])")


def as_markdown(text: str) -> str:
    """The text with its examples fenced, and what means something in Markdown alone escaped."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        # What is indented is shown as it is.
        lines.append(line if inside or line.startswith("    ") else escaped(line))
    return "\n".join([*lines, "```"] if inside else lines)


def escaped(line: str) -> str:
    return MARKUP.sub(lambda match: match[1] or {"<": "&lt;"}.get(match[2], "\\" + match[2]), line)
