#!/usr/bin/env python3
"""Gives the command files that are wrong in every way we can think of, and wants an answer each time.

    mutate_files.py COMMAND [--count 1000] [--seed 1] [--limit 5] [--keep FOLDER]

Stored problems (our own and FCLIB's) go to `solve`, records to `report`, `repair` and `run --resume`. A third of the files are
changed byte by byte, the others inside HDF5, so that every layer behind its checksums is reached: numbers (nan, inf, 1e308,
negative), indices, types, shapes, sizes beyond the file, arrays that are gone or are links. An answer is exit code 0, 1 or 2
within the limit of seconds, and no "unexpected failure". Prints one line per file without an answer; exit code 1 if there is one.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

extremes = [float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1e101, 1e99, 1e-308, -1.0, 0.0]
integer_extremes = [-1, 0, 1, 2, 7, 255, 2**16, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1]
memory = 4 << 30  # [bytes] of address space; a file of some kilobytes that asks for more is a fault


def arrays_of(file):
    names = []
    # Those that a change has made vast are left alone: to fill them takes minutes.
    small = lambda thing: isinstance(thing, h5py.Dataset) and thing.size < 10**6
    file.visititems(lambda name, thing: names.append(name) if small(thing) else None)
    return sorted(names)


# --- changes of bytes ---

def flip(data, rng, count):
    for _ in range(count):
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)


def change_bytes(path, rng):
    data = bytearray(path.read_bytes())
    kind = rng.choice(["flip", "flips", "head", "cut", "zero", "copy", "grow"])
    if kind == "flip":
        flip(data, rng, 1)
    elif kind == "flips":
        flip(data, rng, 40)
    elif kind == "head":
        data[rng.randrange(min(len(data), 400))] ^= rng.randrange(1, 256)
    elif kind == "cut":
        del data[rng.randrange(len(data)):]
    elif kind == "zero":
        at = rng.randrange(len(data))
        data[at:at + 512] = bytes(len(data[at:at + 512]))
    elif kind == "copy":
        at, to = rng.randrange(len(data)), rng.randrange(len(data))
        piece = data[at:at + 256]
        data[to:to + len(piece)] = piece
    else:
        data += bytes(rng.randrange(256) for _ in range(300))
    path.write_bytes(data)
    return kind


# --- changes inside HDF5 ---

def change_number(file, name, rng):
    array = file[name]
    if array.size == 0 or array.dtype.kind not in "fiu":
        return "nothing"
    values = array[()]
    flat = np.atleast_1d(values).reshape(-1).copy()
    for _ in range(rng.choice([1, 1, 5])):
        at = rng.randrange(flat.size)
        if array.dtype.kind == "f":
            flat[at] = rng.choice(extremes)
        else:
            info = np.iinfo(array.dtype)
            flat[at] = min(max(rng.choice(integer_extremes), info.min), info.max)
    array[...] = flat.reshape(array.shape)
    return "number"


def replaced(file, name, values, **options):
    attributes = dict(file[name].attrs)
    del file[name]
    array = file.create_dataset(name, data=values, **options)
    for key, value in attributes.items():
        array.attrs[key] = value


def change_shape(file, name, rng):
    array = file[name]
    if array.dtype.kind not in "fiu":
        return "nothing"
    values = np.atleast_1d(array[()])
    how = rng.choice(["swap", "flat", "shorter", "longer", "empty", "scalar"])
    if how == "swap":
        values = values.T.copy()
    elif how == "flat":
        values = values.reshape(-1)
    elif how == "shorter":
        values = values[:-1]
    elif how == "longer":
        values = np.concatenate([values, values[-1:]])
    elif how == "empty":
        values = values[:0]
    else:
        values = values.reshape(-1)[0] if values.size else values
    replaced(file, name, values)
    return "shape " + how


def change_size(file, name, rng):
    kind = file[name].dtype
    if kind.kind not in "fiu":
        return "nothing"
    del file[name]
    rows = rng.choice([10**7, 10**9, 2**31 - 1, 2**32, 10**12, 2**60])
    shape = rng.choice([(rows,), (rows, 3), (3, rows)])
    file.create_dataset(name, shape, kind, chunks=tuple(min(8, n) for n in shape),
                        compression=rng.choice([None, "gzip"]))
    return "size"


def change_type(file, name, rng):
    array = file[name]
    if array.dtype.kind not in "fiu":
        del file[name]
        file[name] = 3.5
        return "type of text"
    values = array[()]
    how = rng.choice(["integers", "floats", "small", "text", "pairs"])
    with np.errstate(all="ignore"):
        if how == "integers":
            values = np.nan_to_num(np.asarray(values, "f8"), posinf=0, neginf=0).astype("i8")
        elif how == "floats":
            values = np.asarray(values, "f4")
        elif how == "small":
            values = np.asarray(values).astype("i1", casting="unsafe")
        elif how == "text":
            values = np.full(np.shape(values), b"text", "S4")
        else:
            values = np.zeros(np.shape(values), [("a", "f8"), ("b", "i4")])
    replaced(file, name, values)
    return "type " + how


def change_link(file, name, rng):
    del file[name]
    how = rng.choice(["gone", "group", "external", "itself", "nowhere", "outside"])
    if how == "group":
        file.create_group(name)
    elif how == "external":
        file[name] = h5py.ExternalLink("/dev/zero", "/" + name)
    elif how == "itself":
        file[name] = h5py.SoftLink("/" + name)
    elif how == "nowhere":
        file[name] = h5py.SoftLink("/nowhere/at/all")
    elif how == "outside":
        file.create_dataset(name, (10,), "f8", external=[("/dev/zero", 0, 80)])
    return "link " + how


def change_attribute(file, name, rng):
    owner = rng.choice([file, file, file[name]])
    keys = list(owner.attrs)
    if not keys:
        return "nothing"
    key = rng.choice(keys)
    owner.attrs[key] = rng.choice([2**63, "", "x" * 70000 if owner is file else "x" * 1000, 3.5, [1, 2, 3], -1])
    return "attribute"


changes = [change_number] * 6 + [change_shape] * 2 + [change_size, change_type, change_link, change_attribute]


def change_inside(path, rng):
    with h5py.File(path, "r+") as file:
        words = []
        for _ in range(rng.choice([1, 1, 1, 3])):
            names = arrays_of(file)
            name = rng.choice(names)
            try:
                words.append(rng.choice(changes)(file, name, rng) + " of " + name)
            except (OSError, TypeError, ValueError, RuntimeError, OverflowError) as e:  # h5py itself will not
                words.append(f"nothing ({type(e).__name__})")
        if "checksum" in file.attrs and rng.random() < 0.8:
            del file.attrs["checksum"]
        if "format_revision" in file.attrs and rng.random() < 0.5:
            file.attrs["format_revision"] = np.uint64(4)  # before rows had checksums
        return ", ".join(words)


# --- what is done with them ---

def write_matrix(file, name, matrix):
    rows, columns = np.nonzero(matrix)
    for key, value in (("m", matrix.shape[0]), ("n", matrix.shape[1]), ("nz", rows.size), ("nzmax", rows.size)):
        file[f"{name}/{key}"] = np.array([value], "i4")
    file[name + "/i"], file[name + "/p"] = rows.astype("i4"), columns.astype("i4")
    file[name + "/x"] = matrix[rows, columns]


def write_local(path):
    rng = np.random.default_rng(1)
    H = rng.normal(size=(9, 12))
    with h5py.File(path, "w") as file:
        file["fclib_local/spacedim"] = np.array([3], "i4")
        write_matrix(file, "fclib_local/W", H @ H.T)
        file["fclib_local/vectors/q"], file["fclib_local/vectors/mu"] = rng.normal(size=9), np.full(3, 0.5)
    return path


def write_global(path):
    rng = np.random.default_rng(2)
    with h5py.File(path, "w") as file:
        file["fclib_global/spacedim"] = np.array([3], "i4")
        write_matrix(file, "fclib_global/M", np.diag(rng.uniform(1, 2, 12)))
        write_matrix(file, "fclib_global/H", rng.normal(size=(12, 9)))
        write_matrix(file, "fclib_global/G", rng.normal(size=(12, 2)))
        for key, size in (("f", 12), ("w", 9), ("b", 2)):
            file[f"fclib_global/vectors/{key}"] = rng.normal(size=size)
        file["fclib_global/vectors/mu"] = np.full(3, 0.5)
    return path


class Originals:
    def __init__(self, command, folder):
        self.model = ["mechanism:double-pendulum-wall", "--step", "1e-2"]
        self.box = ["scene:falling-box", "--step", "5e-3"]
        run = lambda *words: subprocess.run([command, *words], cwd=folder, check=False, capture_output=True)
        run("run", *self.model, "--end", "0.5", "-o", "pendulum")
        run("run", *self.box, "--end", "0.7", "-o", "box")
        strict = ("--set", "run.policy=certify")
        run("run", *self.box, "--end", "0.7", "--set", "solver.tol=1e-30", *strict, "-o", "refused")
        run("run", "scene:four-bar", "--set", "solver.tol=1e-30", *strict, "-o", "linkage")
        self.records = [folder / "pendulum/run.h5", folder / "box/run.h5"]
        self.problems = sorted(folder.glob("refused/refused_*.h5")) + sorted(folder.glob("linkage/refused_*.h5"))
        stored = pathlib.Path(__file__).resolve().parent.parent / "data/problems"
        self.problems += [p for p in sorted(stored.glob("**/*")) if p.suffix in (".h5", ".hdf5") and p.stat().st_size < 50000]
        self.problems += [write_local(folder / "local.h5"), write_global(folder / "global.h5")]
        for path in self.records + self.problems:
            if not path.exists():
                sys.exit(f"{path} was not made")
        if not self.problems:
            sys.exit("no problem to mutate")

    def commands(self, path, of, copy):
        """The commands for a mutated copy of one of the originals."""
        if of not in self.records:
            return [["solve", copy, "--json"]]
        model = self.model if of == self.records[0] else self.box
        resumed = ["run", *model, "--end", "0.8", "--resume", copy, "--no-record", "--quiet"]
        return [["report", copy, "-o", str(path / "page.html")], resumed, ["repair", copy]]


def limit_memory():
    if not os.environ.get("STICKSLIP_SANITIZED"):  # a sanitizer maps terabytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def answer(command, words, limit):
    """None, or what is wrong with the answer."""
    environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=4096:detect_leaks=0",
                       UBSAN_OPTIONS="halt_on_error=1")
    try:
        done = subprocess.run([command, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=limit,
                              preexec_fn=limit_memory, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {limit} s"
    text = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2):
        return f"exit code {done.returncode}: {text[-600:]}"
    for sign in ("unexpected failure", "AddressSanitizer", "runtime error:", "bug in stickslip"):
        if sign in text:
            return text[-1500:]
    if done.returncode != 0 and not text.strip() and b"{" not in done.stdout:
        return "not a word"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    command = str(arguments.command.resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-mutated-"))
    try:
        originals = Originals(command, folder)

        def one(number):
            rng = random.Random(arguments.seed * 1000003 + number)
            of = rng.choice(originals.records if number % 2 else originals.problems)
            place = folder / str(number)
            place.mkdir()
            copy = place / "file.h5"
            shutil.copy(of, copy)
            words = change_bytes(copy, rng) if number % 3 == 0 else change_inside(copy, rng)
            faults = []
            for line in originals.commands(place, of, str(copy)):
                wrong = answer(command, line, arguments.limit)
                if wrong:
                    faults.append(f"{number}: {line[0]}, {of.parent.name}/{of.name}, {words}: {wrong}")
            if faults and arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(copy, arguments.keep / f"{number}.h5")
            shutil.rmtree(place)
            return faults

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # h5py has a lock of its own
            faults = [fault for found in pool.map(one, range(arguments.count)) for fault in found]
        for fault in faults:
            print(fault)
        print(f"{arguments.count} mutated files, {len(faults)} commands without an answer")
        return 1 if faults else 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
