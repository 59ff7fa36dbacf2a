"""Performance profiles [Dolan & More 2002]: the share of problems a solver has solved within tau times the best time."""
import math

width, height, left, right, top, bottom = 720, 400, 60, 190, 40, 50  # [px]
colours = ["#999999", "#4e79a7", "#59a14f", "#9c755f", "#b07aa1", "#76b7b2", "#edc948", "#ff9da7", "#86bcb6", "#bab0ac"]
largest_ratio = 1000.0


tick = 0.004  # [s] of the processor clock on some systems: what a reading of it may lack


def time_of(row):
    """Two upper estimates of the processor time: the shortest wall time, best for short solves, which are repeated; and the
    processor time plus one tick of its clock, best for long ones, which a busy machine interrupts."""
    return min(row["wall_s"], row["cpu_s"] + tick)


def times(rows, level, floor):
    """{solver: {problem: time or inf}} of problems in space; a solve counts if its recomputed err_vel is at most `level`."""
    result = {}
    for row in rows:
        if row["dim"] != 3:
            continue
        good = row.get("err_vel", math.inf) <= level and math.isfinite(row.get("err_vel", math.inf))
        result.setdefault(row["solver"], {})[row["problem"]] = max(time_of(row), floor) if good else math.inf
    return result


def best(times_of, problem):
    return min(table.get(problem, math.inf) for table in times_of)


def ratios(table):
    """{solver: sorted ratios to the best, inf left in}; problems nobody solved count for nobody."""
    names = {problem for of in table.values() for problem in of}
    fastest = {name: best(table.values(), name) for name in names}
    solved = [name for name in names if math.isfinite(fastest[name])]
    nobody = [math.inf] * (len(names) - len(solved))
    return {solver: sorted([of.get(name, math.inf) / fastest[name] for name in solved] + nobody)
            for solver, of in table.items()}, len(names)


def share(list_, tau):
    return sum(x <= tau for x in list_) / max(1, len(list_))


def summary(table, level):
    ratio, count = ratios(table)
    lines = [f"\n{count} problems in space to err_vel <= {level:g}: share solved within tau times the best time\n",
             "| solver | tau = 1 | 2 | 5 | 20 | 100 | solved |", "|---|---|---|---|---|---|---|"]
    for solver in sorted(ratio, key=lambda s: -share(ratio[s], 2)):
        shares = [share(ratio[solver], tau) for tau in (1, 2, 5, 20, 100)] + [share(ratio[solver], 1e300)]
        lines.append(f"| {solver} | " + " | ".join(f"{x:.2f}" for x in shares) + " |")
    ours = [of for solver, of in table.items() if solver.startswith("stickslip")]
    others = [of for solver, of in table.items() if not solver.startswith("stickslip")]
    names = {problem for of in table.values() for problem in of}
    solved = [name for name in names if math.isfinite(best(ours, name))]
    faster = [name for name in solved if best(ours, name) < best(others, name)]
    tied = [name for name in solved if best(ours, name) <= best(others, name)]
    near = [name for name in solved if best(ours, name) <= 2 * best(others, name)]
    if ours and names:
        lines.append(f"\nours: solved {len(solved)} of {count}, faster than the best of all others on {len(faster)} "
                     f"(with ties at the floor of the clock {len(tied)}), "
                     f"within a factor 2 of it on {len(near)}; the others together solved "
                     f"{sum(math.isfinite(best(others, name)) for name in names)}")
    return "\n".join(lines)


def svg(table, title):
    ratio, count = ratios(table)
    x = lambda tau: left + (width - left - right) * math.log10(tau) / math.log10(largest_ratio)
    y = lambda part: height - bottom - (height - top - bottom) * part
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="22" font-size="14">{title.replace("<", "&lt;")}, {count} problems</text>']
    for tau in (1, 10, 100, 1000):
        out.append(f'<line x1="{x(tau):.1f}" x2="{x(tau):.1f}" y1="{y(0)}" y2="{y(1)}" stroke="#dddddd"/>'
                   f'<text x="{x(tau):.1f}" y="{height - bottom + 16}" text-anchor="middle">{tau}</text>')
    for part in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{y(part):.1f}" y2="{y(part):.1f}" stroke="#dddddd"/>'
                   f'<text x="{left - 6}" y="{y(part) + 4:.1f}" text-anchor="end">{100 * part:.0f} %</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">time / best time of all</text>')
    # Those that stop at a looser tolerance than this level would only crowd the picture; the table has them.
    shown = [s for s in ratio if share(ratio[s], largest_ratio) >= 0.2]
    order = sorted(shown, key=lambda s: (s.startswith("stickslip"), share(ratio[s], 10)))
    labels = []
    for number, solver in enumerate(order):
        own = solver.startswith("stickslip")
        colour = ("#e15759" if solver.endswith("8") else "#f28e2b") if own else colours[number % len(colours)]
        path, part = [f"M{x(1):.1f} {y(0):.1f}"], 0.0
        for k, tau in enumerate(ratio[solver]):
            if tau > largest_ratio:
                break
            part = (k + 1) / len(ratio[solver])
            path.append(f"H{x(tau):.1f}V{y(part):.1f}")
        path.append(f"H{x(largest_ratio):.1f}")
        out.append(f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="{3 if own else 1.2}"/>')
        labels.append((part, solver, colour))
    at = -math.inf
    for part, solver, colour in sorted(labels, key=lambda label: -label[0]):
        at = max(y(part) + 4, at + 14)
        out.append(f'<text x="{width - right + 8}" y="{at:.1f}" fill="{colour}">{solver} {100 * part:.0f} %</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def lcp_table(rows):
    """Solved (error <= 1e-6) of tried and the median time, by family and solver."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    families = list(dict.fromkeys(row["problem"].rsplit("_", 1)[0] for row in rows))
    lines = ["\n| family | " + " | ".join(solvers) + " |", "|---|" + "---|" * len(solvers)]
    for family in families:
        cells = []
        for solver in solvers:
            mine = [row for row in rows if row["solver"] == solver and row["problem"].rsplit("_", 1)[0] == family]
            good = sorted(time_of(row) for row in mine if row.get("error", math.inf) <= 1e-6)
            cells.append(f"{len(good)}/{len(mine)}" + (f", {good[len(good) // 2]:.2g} s" if good else ""))
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
