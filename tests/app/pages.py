"""Code blocks of a page, for tests that do what it says."""
import re


def blocks(text, kind):
    """Those of a kind ("": none is named), in order."""
    found = re.findall(r"(?m)^```(\w*)\n(.*?)^```$", text, re.DOTALL)
    return [block for name, block in found if name == kind]


def commands(text):
    """[(command, what is shown below it)] of the page."""
    found = []
    for block in blocks(text, ""):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found
