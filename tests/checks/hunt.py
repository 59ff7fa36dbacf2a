"""What the hunts have in common: their options, cases in several processes, a table of all results."""
import argparse
import csv
import dataclasses
import multiprocessing
import os


def parser(description, count, things, who, kept):
    """Options of a hunt for `count` things (runs, problems), by those who are hunted (`who`: solvers, schemes)."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--command", required=True, help="the stickslip command")
    options.add_argument("--count", type=int, default=count, help=things)
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(f"--{who}", default="all", help="names, separated by commas")
    options.add_argument("--families", default="all", help="names, separated by commas")
    options.add_argument("--jobs", type=int, default=1, help="processes")
    options.add_argument("--keep", help=kept)
    options.add_argument("--csv", help="table of all results")
    return options


def chosen(text, names):
    return list(names) if text == "all" else text.split(",")


def make_folder(folder):
    if folder:
        os.makedirs(folder, exist_ok=True)


def results_of(work, tasks, jobs):
    """What work(task) gives, task by task in their order, with `jobs` processes."""
    if jobs == 1:
        yield from map(work, tasks)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap(work, tasks)


def write_csv(file, results, kind):
    """One line per result of the dataclass `kind`; no file, nothing."""
    if not file:
        return
    with open(file, "w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in dataclasses.fields(kind)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(r) for r in results)
