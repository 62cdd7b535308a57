"""Conversion of docstrings to Markdown. Docstrings are plain text: examples become blocks, and only `code` is
markup."""

import re

# Characters that Markdown would read as emphasis, a link or a tag. Code spans are found first, and stay unchanged.
MARKUP = re.compile(r"(`[^`]*`)|([*_\[\]<\\#|])")


def as_markdown(text: str) -> str:
    """The text with fenced examples and escaped Markdown characters."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        # Indented text is shown unchanged.
        lines.append(line if inside or line.startswith("    ") else escaped(line))
    return "\n".join([*lines, "```"] if inside else lines)


def escaped(line: str) -> str:
    return MARKUP.sub(lambda match: match[1] or {"<": "&lt;"}.get(match[2], "\\" + match[2]), line)
