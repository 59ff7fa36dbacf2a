"""What the tests of the project share: where the sources and the build tree are, and which files are ours."""
import os
import pathlib
import subprocess

source = pathlib.Path(os.environ.get("STICKSLIP_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
build = pathlib.Path(os.environ.get("STICKSLIP_BUILD", source / "build/release"))


def run(*command, **more):
    """Runs a command, returns its output; a failure is an error that shows what the command said."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def files():
    """Files of the project, relative to its folder: tracked or about to be; without git all but hidden and built."""
    try:
        listed = run("git", "-C", source, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        found = [pathlib.Path(name) for name in listed]
    except (AssertionError, FileNotFoundError):
        found = [path.relative_to(source) for path in source.rglob("*")]
        found = [path for path in found if path.parts[0] not in (".git", "build", "runs")]
    return sorted({path for path in found if (source / path).is_file()})


def text(path):
    """The text of a file, or None if it holds something else."""
    data = (source / path).read_bytes()
    if b"\0" in data:
        return None
    return data.decode("utf-8")
