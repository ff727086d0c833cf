"""The table that is printed."""


class Row:
    """One line: two figures, their ratio, and whether it is as it should be."""

    def __init__(self, title, ours, theirs, other, ratio, bound=None, target=None):
        isMet = target and (ratio <= target if bound == "at most" else ratio >= target)
        verdict = "" if target is None else "met" if isMet else "MISSED"
        aim = "" if target is None else f"{bound} {target:g}"
        self.cells = [title, ours, theirs, other, f"{ratio:.2f}", aim, verdict]


def print_table(rows):
    lines = [["", "dictum", "other", "which", "ratio", "target", ""], *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = (cell.rjust(width) if column in (1, 2, 4) else cell.ljust(width)
                 for column, (cell, width) in enumerate(zip(line, widths)))
        print("  ".join(cells).rstrip())
