"""Who may include whom: what the arrow names, and what that one sees in turn (ARCHITECTURE.md)."""
import pathlib
import re
import unittest

import project

arrows = {
    "base": [],
    "plot": ["base"],
    "math": ["base"],
    "geometry": ["math"],
    "collision": ["geometry"],
    "problems": ["math"],
    "solvers": ["problems"],
    "model": ["collision", "problems"],
    "mechanisms": ["model"],
    "diagnose": ["model", "problems"],
    # diagnose: the energy ledger is fed stage by stage
    "schemes": ["model", "problems", "solvers", "diagnose"],
    "simulation": ["schemes", "diagnose"],
    "record": ["simulation", "mechanisms"],
    "scene": ["simulation", "mechanisms"],
    "report": ["record", "scene", "plot"],
    "study": ["simulation", "scene", "plot"],
}

# The layer whose promise a public header is.
public = {
    "types": "base", "error": "base", "files": "base", "options": "base", "version": "base", "threads": "base", "tolerances": "base",
    "policy": "base",
    "blocks": "math",
    "problem": "problems",
    "contradiction": "problems",
    "stored_problem": "problems",
    "solver": "solvers",
    "system": "model",
    "mechanism": "mechanisms",
    "ledger": "diagnose",
    "scheme": "schemes",
    "simulation": "simulation",
    "scene": "scene", "edit": "scene", "load": "scene", "check": "scene",
    "record": "record", "hard_problems": "record",
    "report": "report",
    "study": "study",
}


def below(layer):
    """The layer and everything it sees."""
    seen = {layer}
    for next_one in arrows[layer]:
        seen |= below(next_one)
    return seen


def layer_of(path):
    """Layer of a file named as it is included, `math/so3.hpp` or `stickslip/types.hpp`; None if it has none."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "stickslip":
        return public.get(pathlib.PurePath(path).stem)
    return parts[0] if parts[0] in arrows else None


def complaint(path, included, exists):
    """What is wrong with `#include "included"` in the file `path` (relative to the project), or None.

    `exists` tells whether a path of the project exists.
    """
    folder, inside = path.parts[0], pathlib.PurePath(*path.parts[1:])
    beside = path.parent / included
    if folder == "cli":
        if included.startswith("stickslip/") and exists(pathlib.PurePath("include") / included):
            return None
        return None if exists(beside) or exists(pathlib.PurePath("cli") / included) else "neither a public header nor of cli"
    # Find the included file, the way the compiler does.
    if exists(beside):
        target = beside
    else:
        target = next((pathlib.PurePath(top) / included for top in ("src", "include")
                       if exists(pathlib.PurePath(top) / included)), None)
    if target is None:
        return "there is no such file"
    if folder == "include" and target.parts[0] != "include":
        return "a public header includes one that is not installed"
    if inside == pathlib.PurePath("stickslip/stickslip.hpp"):
        return None  # the one that includes all the others
    mine, its = layer_of(inside), layer_of(pathlib.PurePath(*target.parts[1:]))
    if mine is None:
        return "this file has no layer: name it in tests/project/test_include_arrows.py"
    if its is None:
        return "the included file has no layer, or is for users alone"
    return None if its in below(mine) else f"{mine} does not see {its}"


def includes(text):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)


class IncludeArrows(unittest.TestCase):
    def test_every_include_follows_an_arrow(self):
        exists = lambda path: (project.source / path).is_file()
        wrong, count = [], 0
        for path in project.files():
            if path.parts[0] not in ("src", "include", "cli") or path.suffix not in (".hpp", ".cpp"):
                continue
            for included in includes(project.text(path)):
                count += 1
                what = complaint(path, included, exists)
                if what:
                    wrong.append(f'{path} includes "{included}": {what}')
        self.assertGreater(count, 10, "hardly any includes found: does the search still work?")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_linking_follows_the_same_arrows(self):
        text = project.text(pathlib.Path("CMakeLists.txt"))
        linked = {}
        for name, rest in re.findall(r"^stickslip_layer\((\w+)(.*?)\)", text, re.MULTILINE | re.DOTALL):
            match = re.search(r"LAYERS((?: [a-z]+)*)", rest)
            linked[name] = match.group(1).split() if match else []
        self.assertEqual({name: sorted(layers) for name, layers in linked.items()},
                         {name: sorted(layers) for name, layers in arrows.items()})

    def test_forbidden_includes_are_noticed(self):
        tree = {"src/solvers/lemke.cpp", "src/model/bodies.hpp", "src/base/fields.hpp", "src/collision/gjk.hpp",
                "include/stickslip/system.hpp", "include/stickslip/types.hpp", "include/stickslip/stickslip.hpp",
                "cli/run.cpp", "cli/text.hpp", "src/model/joints/ball.cpp", "src/model/joints/piece.hpp"}
        exists = lambda path: str(path) in tree
        check = lambda path, included: complaint(pathlib.PurePath(path), included, exists)
        self.assertEqual(check("src/solvers/lemke.cpp", "model/bodies.hpp"), "solvers does not see model")
        self.assertEqual(check("src/solvers/lemke.cpp", "stickslip/system.hpp"), "solvers does not see model")
        self.assertIn("neither", check("cli/run.cpp", "base/fields.hpp"))
        self.assertIn("not installed", check("include/stickslip/types.hpp", "base/fields.hpp"))
        self.assertIn("for users alone", check("src/model/bodies.hpp", "stickslip/stickslip.hpp"))
        self.assertIn("no such file", check("src/model/bodies.hpp", "model/none.hpp"))
        for path, included in [("src/solvers/lemke.cpp", "base/fields.hpp"), ("cli/run.cpp", "text.hpp"),
                               ("cli/run.cpp", "stickslip/system.hpp"), ("src/model/bodies.hpp", "collision/gjk.hpp"),
                               ("src/model/joints/ball.cpp", "piece.hpp")]:
            self.assertIsNone(check(path, included), f"{path} includes {included}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
