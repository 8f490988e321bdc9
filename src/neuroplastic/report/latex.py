"""Tables as LaTeX that needs no package but colortbl, for the shading."""

from __future__ import annotations

from .document import DIFFERS, EQUAL, ROUNDED, SLIP, Cell, Symbol, Table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "∞": r"$\infty$",
    "η": r"$\eta$",
    "γ": r"$\gamma$",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "ε": r"$\epsilon$",
    "μ": r"$\mu$",
    "θ": r"$\theta$",
    "𝒩": r"$\mathcal{N}$",
    "≠": r"$\neq$",
    "±": r"$\pm$",
}
_MARKS = {EQUAL: r"$^{=}$", ROUNDED: r"$^{\approx}$", DIFFERS: r"$^{\neq}$", SLIP: r"$^{!}$"}


def escaped(text: str) -> str:
    """Text in which nothing is a command."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def latex(table: Table) -> str:
    """The table as a `table` environment. Shaded cells use \\cellcolor of colortbl."""
    columns = "l" + "r" * (len(table.header) - 1)
    header = " & ".join(
        entry.latex if isinstance(entry, Symbol) else escaped(entry) for entry in table.header
    )
    lines = [
        r"% needs \usepackage{colortbl} where cells are shaded",
        r"\begin{table}[ht]",
        r"  \centering",
        r"  \addtolength{\tabcolsep}{-0.3em}",
        rf"  \begin{{tabular}}{{{columns}}}",
        rf"    {header} \\",
        r"    \hline\hline",
    ]
    for number, row in enumerate(table.rows):
        if number in table.breaks:
            lines.append(r"    \hline")
        lines.append("    " + " & ".join(map(_cell, row)) + r" \\")
    lines += [
        r"  \end{tabular}",
        rf"  \caption{{{escaped(table.caption)}}}",
        rf"  \label{{tab:{table.key}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    text = escaped(cell.text)
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if cell.highlighted:
        text = rf"\underline{{{text}}}"
    if cell.note:
        text += rf" {{\footnotesize {escaped(cell.note)}}}"
    shade = rf"\cellcolor[gray]{{{1 - 0.75 * cell.shade:.2f}}}" if cell.shade > 0 else ""
    return shade + text + _MARKS.get(cell.mark, "")
