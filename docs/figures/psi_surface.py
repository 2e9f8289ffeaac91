"""Psi, the combined proximity of MOPE, over w and g: the surface of Figure 1 of the paper, and cuts through it.

psi = g^a / (1 + beta (1 - w^b)) with a = 0.3, b = 1.3, beta = 1: w alone cannot raise psi where g is small, and at each
g psi stays between g^a / (1 + beta) and g^a.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from proxembed.proximity.combine import combine
from proxembed.report.figures import shades

A, B, BETA = 0.3, 1.3, 1.0
CUTS = (1.0, 0.5, 0.1, 0.01, 0.0)
STEPS = 61


def psi(w: np.ndarray, g: np.ndarray) -> np.ndarray:
    return combine("priority", w, g, a=A, b=B, beta=BETA)


def draw_surface(axes) -> None:
    w, g = np.meshgrid(np.linspace(0, 1, STEPS), np.linspace(0, 1, STEPS) ** 3)  # close where the surface is steep
    shade = ListedColormap(shades()[25:230] / 255)
    axes.plot_surface(w, g, psi(w, g), cmap=shade, vmin=0, vmax=1, rcount=STEPS, ccount=STEPS, linewidth=0.1,
                      edgecolor=(1, 1, 1, 0.25))  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1))
    axes.set_xlabel("w, from the features")
    axes.set_ylabel("g, from the labels")
    axes.set_zlabel("ψ")
    axes.view_init(elev=24, azim=-128)
    axes.set_box_aspect((1, 1, 0.8), zoom=0.88)


def draw_cuts(axes) -> None:
    w = np.linspace(0, 1, 201)
    for g, colour in zip(CUTS, shades()[[250, 205, 160, 115, 80]] / 255, strict=True):
        values = psi(w, np.full_like(w, g))
        axes.plot(w, values, color=colour, linewidth=2, clip_on=False)
        axes.annotate(f"g = {g:g}", (1.02, values[-1]), va="center", annotation_clip=False)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="w, from the features", ylabel="ψ")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.7)


def main(path: Path) -> None:
    figure = Figure(figsize=(10, 4.4), dpi=150)
    draw_surface(figure.add_axes((0.0, 0.02, 0.52, 0.9), projection="3d"))
    draw_cuts(figure.add_axes((0.61, 0.15, 0.29, 0.7)))
    title = rf"$\psi = g^a \,/\, (1 + \beta\,(1 - w^b))$   with a = {A:g}, b = {B:g}, $\beta$ = {BETA:g}"
    figure.suptitle(title, fontsize=12)
    figure.savefig(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
