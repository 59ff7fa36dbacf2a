"""scripts/install-deps lists what we use and nothing else.

What the compiler read and the linker took is known to the build tree: `ninja -t deps` and `ninja -t commands`. Each such
file must belong to a package of the lists or of their dependencies: `run` for the library and the command, `run` and
`test` for the tests. And each listed package must give something: a file that was read, or a command that is called.
"""
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import project

# Packages that are used by being called or imported: the word to look for, and where.
called = {
    "g++": (r"g\+\+", ["README.md", "CONTRIBUTING.md", "cmake"]), "cmake": (r"\bcmake\b", ["Makefile"]),
    "ninja-build": (r"\bNinja\b", ["CMakePresets.json"]), "python3": (r"\bpython3\b", ["tests"]),
    "git": (r'"git"', ["tests"]), "ccache": (r"\bccache\b", ["cmake"]), "mold": (r"\bmold\b", ["cmake"]),
    "python3-numpy": (r"^\s*import numpy", ["tests", "scripts"]), "python3-h5py": (r"^\s*import h5py", ["tests", "scripts"]),
    "python3-yaml": (r"^\s*import yaml", ["tests"]), "python3-jsonschema": (r"^\s*import jsonschema", ["tests"]),
}


@functools.cache
def listed(*tiers):
    return project.run("sh", project.source / "scripts/install-deps", "--list", *tiers).split()


@functools.cache
def installed():
    """Package -> names of the packages it needs, for every installed package; also under the names it provides."""
    needs = {}
    lines = project.run("dpkg-query", "-W", "-f", "${Package}\t${Provides}\t${Pre-Depends}, ${Depends}\n").splitlines()
    for line in lines:
        package, provides, depends = line.split("\t")
        names = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", depends)
        needs.setdefault(package, []).extend(names)
        for name in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)", provides):
            needs.setdefault(name, []).append(package)
    return needs


def closure(packages):
    seen, open_ones = set(), list(packages)
    while open_ones:
        package = open_ones.pop()
        if package not in seen and package in installed():
            seen.add(package)
            open_ones += installed()[package]
    return seen


def canonical(path):
    """The name of a file after following links, since packages and compilers reach it by different folders."""
    return str(pathlib.Path(path).resolve())


@functools.cache
def files_of(*packages):
    names = subprocess.run(["dpkg-query", "-L", *packages], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True).stdout.split("\n")
    folders = {}  # resolving folders, not files, keeps this quick
    found = set()
    for name in names:
        folder, _, last = name.rpartition("/")
        if not last or "/share/doc/" in name:
            continue
        if folder not in folders:
            folders[folder] = canonical(folder)
        found.add(f"{folders[folder]}/{last}")
        if ".so" in last:
            found.add(canonical(name))
    return found


def ours(path):
    return path.is_relative_to(project.source) or path.is_relative_to(project.build)


BENCHMARKS = ("bench/", "bench_", "CMakeFiles/bench_")
ORACLES = ("CMakeFiles/bench_ida", "CMakeFiles/bench_peer")  # benchmarks that need the tier of other people's solvers


@functools.cache
def read_by_compiler():
    """Headers outside our own folders, of (the library and the command; the tests; the benchmarks; those beside other people's
    solvers), the last two if they were built."""
    product, tests, benchmarks, oracles = set(), set(), set(), set()
    into = None
    for line in project.run("ninja", "-C", project.build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            if line.startswith("ninja: "):
                continue
            into = (tests if line.startswith("tests/") else oracles if line.startswith(ORACLES)
                    else benchmarks if line.startswith(BENCHMARKS) else product)
        elif line.strip():
            path = pathlib.Path(project.build, line.strip())
            if not ours(path):
                into.add(canonical(path))
    return product, tests, benchmarks, oracles


def taken_by_linker(target):
    """Libraries on the link line of a target, and those its program loads."""
    commands = project.run("ninja", "-C", project.build, "-t", "commands", "-s", target)
    found = {canonical(word) for word in re.findall(r"(?<=\s)/\S+\.(?:a|so)\b\S*", commands)}
    if re.search(r"\s-o \S", commands) and (project.build / target).is_file():
        found |= {canonical(path) for path in re.findall(r"=> (/\S+)", project.run("ldd", project.build / target))}
    return {path for path in found if not ours(pathlib.Path(path))}


def outside(used, tiers):
    """Lines naming the files that no package of the tiers accounts for."""
    rest = sorted(used - files_of(*sorted(closure(listed(*tiers)))))
    lines = []
    for path in rest:
        owner = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True).stdout.split(":")[0]
        lines.append(f"{path} (of {owner or 'no package'}) is not in the closure of {' '.join(tiers)}")
    return lines


def programs(*patterns):
    found = [path for pattern in patterns for path in project.build.glob(pattern) if path.is_file()]
    return [str(path.relative_to(project.build)) for path in sorted(found) if path.stat().st_mode & 0o100]


class Packages(unittest.TestCase):
    def test_library_and_command_need_only_what_run_lists(self):
        product, _, _, _ = read_by_compiler()
        self.assertGreater(len(product), 100, "the build tree knows of hardly any header: was anything compiled?")
        used = set(product)
        for target in programs("bin/stickslip"):
            used |= taken_by_linker(target)
        self.assertFalse(wrong := outside(used, ["run"]), "\n".join(wrong))

    def test_tests_need_only_what_run_and_test_list(self):
        _, tests, _, _ = read_by_compiler()
        used = set(tests)
        for target in programs("tests/test_*"):
            used |= taken_by_linker(target)
        self.assertFalse(wrong := outside(used, ["run", "test"]), "\n".join(wrong))

    def test_benchmarks_need_only_what_run_and_bench_list(self):
        _, _, benchmarks, _ = read_by_compiler()
        self.assertFalse(wrong := outside(set(benchmarks), ["run", "bench"]), "\n".join(wrong))

    def test_benchmarks_beside_other_solvers_need_only_what_run_bench_and_oracles_list(self):
        _, _, _, oracles = read_by_compiler()
        self.assertFalse(wrong := outside(set(oracles), ["run", "bench", "oracles"]), "\n".join(wrong))

    def test_every_listed_package_is_used(self):
        product, tests, _, _ = read_by_compiler()
        idle = []
        for tiers, used in ((["run"], product), (["test"], product | tests)):
            for package in listed(*tiers):
                if package in called:
                    pattern, places = called[package]
                    if not any(re.search(pattern, project.text(path) or "", re.MULTILINE)
                               for path in project.files() if str(path).startswith(tuple(places))):
                        idle.append(package)
                # a package like libboost-dev is empty and names the one that holds the files
                elif not used & files_of(package, *[name for name in installed().get(package, []) if name.endswith("-dev")]):
                    idle.append(package)
        self.assertFalse(idle, "listed in scripts/install-deps, used by nothing: " + " ".join(idle))

    def test_a_foreign_header_is_noticed(self):
        foreign = canonical(shutil.which("dpkg"))
        self.assertEqual(len(outside({foreign}, ["quality"])), 0 if "dpkg" in closure(listed("quality")) else 1)
        self.assertEqual(len(outside({"/usr/include/no-such-header.h"}, ["run", "test"])), 1)


if __name__ == "__main__":
    missing = [tool for tool in ("dpkg-query", "ninja", "ldd") if not shutil.which(tool)]
    if missing:
        print("skipped: cannot tell which package a file belongs to without", " ".join(missing))
        sys.exit(77)
    if not (project.build / "build.ninja").is_file():
        print("skipped: only the build tree of ninja remembers what was read")
        sys.exit(77)
    unittest.main(verbosity=2)
