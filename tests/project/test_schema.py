"""`stickslip schema` accepts the scenes the reader accepts, and refuses misspelt keys and wrong types as it does."""
import copy
import json
import pathlib
import subprocess
import sys
import unittest

import project

try:
    import jsonschema
    import yaml
except ImportError as failure:
    print("skipped:", failure)
    sys.exit(77)

command = project.build / "bin/stickslip"
reader = project.build / "tests/project/read_scenes"
scenes = sorted((project.source / "scenes").glob("*.yaml"))
data = project.source / "tests/data"
named = {"let", "materials", "bodies", "joints", "forces"}  # free names stand below these


def load(path):
    """A scene as JSON sees it: keys are text."""
    def texts(node):
        if isinstance(node, dict):
            return {str(key): texts(value) for key, value in node.items()}
        return [texts(item) for item in node] if isinstance(node, list) else node
    return texts(yaml.safe_load(path.read_text()))


def places(node, path=()):
    """Paths of all values below `node`."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield path + (key,)
        yield from places(value, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def same(a, b):
    return json.dumps(a) == json.dumps(b)  # tells True from 1, which == does not


def changed_part(scene, whole, required):
    """The scene without the entries it shares with `whole`; of bodies, joints and the like only those that differ."""
    part = {}
    for key, value in scene.items():
        before = whole.get(key)
        if key in required or not same(value, before):
            part[key] = value
        if key in named and isinstance(part.get(key), dict) and isinstance(before, dict):
            part[key] = {name: one for name, one in value.items() if name not in before or not same(one, before[name])}
    return part


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not command.exists() or not reader.exists():
            raise unittest.SkipTest("the command is not built here")
        cls.schema = json.loads(project.run(command, "schema"))
        cls.validator = jsonschema.Draft202012Validator(cls.schema)
        cls.every_key = load(data / "scenes/every-key.yaml")
        # One process for all scenes: starting the command two thousand times takes longer than reading them.
        cls.reader = subprocess.Popen([reader, data / "scenes/scene.yaml"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)

    @classmethod
    def tearDownClass(cls):
        cls.reader.communicate()

    def accepts(self, scene):
        """Whether the schema takes the scene. Judges only what differs from every-key.yaml, which it takes."""
        return self.validator.is_valid(changed_part(scene, self.every_key, self.schema["required"]))

    def reads(self, scene):
        """Whether the library takes the scene; it may still refuse to step it."""
        self.reader.stdin.write(json.dumps(scene) + "\n")
        self.reader.stdin.flush()
        said = self.reader.stdout.readline()
        self.assertTrue(said, "the reader has ended")
        return said == "\n"

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_accepts_every_scene_we_ship(self):
        self.assertGreater(len(scenes), 9)
        for path in scenes + sorted((data / "scenes").glob("*.yaml")):
            with self.subTest(scene=path.name):
                self.validator.validate(load(path))

    def test_every_key_of_the_schema_is_tried_here(self):
        used = {key for path in scenes + [data / "scenes/every-key.yaml"] for place in places(load(path)) for key in place}
        for name, form in [("scene", self.schema), *self.schema["$defs"].items()]:
            for key in form.get("properties", {}):
                self.assertIn(key, used, f"the key '{key}' of {name}: add it to tests/data/scenes/every-key.yaml")

    def test_every_key_reads(self):
        self.assertTrue(self.reads(self.every_key))

    def test_refuses_misspelt_keys_as_the_reader_does(self):
        count = 0
        for path in places(self.every_key):
            free = len(path) == 2 and path[0] in named or path[-2:-1] in (("repeat",), ("grid",), ("attach",))
            if free or isinstance(path[-1], int):
                continue
            scene = copy.deepcopy(self.every_key)
            parent = at(scene, path[:-1])
            parent[path[-1] + "x"] = parent.pop(path[-1])
            with self.subTest(path=".".join(map(str, path))):
                self.assertFalse(self.accepts(scene), "the schema takes it")
                self.assertFalse(self.reads(scene), "the reader takes it")
            count += 1
        self.assertGreater(count, 100)

    def test_refuses_wrong_types_as_the_reader_does(self):
        count = 0
        for path in places(self.every_key):
            for wrong in ({"x": {"y": 1}}, [[{"z": 1}]], True):
                value = at(self.every_key, path)
                if isinstance(value, bool) and wrong is True:
                    continue
                scene = copy.deepcopy(self.every_key)
                at(scene, path[:-1])[path[-1]] = wrong
                with self.subTest(path=".".join(map(str, path)), wrong=wrong):
                    self.assertFalse(self.accepts(scene), "the schema takes it")
                    self.assertFalse(self.reads(scene), "the reader takes it")
                count += 1
        self.assertGreater(count, 300)

    def test_never_refuses_what_the_reader_takes(self):
        """With one value left out, or a vector made longer."""
        refused = 0
        for path in places(self.every_key):
            value = at(self.every_key, path)
            changes = [None] + ([value + [0]] if isinstance(value, list) else [])
            for change in changes:
                scene = copy.deepcopy(self.every_key)
                if change is None:
                    at(scene, path[:-1]).pop(path[-1])
                else:
                    at(scene, path[:-1])[path[-1]] = change
                if not self.accepts(scene):
                    refused += 1
                    with self.subTest(path=".".join(map(str, path)), change=change):
                        self.assertFalse(self.reads(scene), "the reader takes it, the schema does not")
        self.assertGreater(refused, 50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
