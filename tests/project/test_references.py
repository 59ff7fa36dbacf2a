"""Every paper cited in the code, as [Key, (2.20)] or [Key], stands in references.bib."""
import pathlib
import re
import unittest

import project

keys = set(re.findall(r"^@\w+\{([^,]+),", project.text(pathlib.Path("references.bib")), re.MULTILINE))
# A citation opens with a name: [Anitescu-Potra, (2.5)]. What follows the comma is a place in the paper.
citation = r"\[([A-Z][a-z]+(?:-[A-Z][a-z]+)*)(?:, ?(?:\(|s\.|p\.|ch|sec|eq|thm|lemma|alg|fig|table|app|[A-Z]?\d)[^\]]*)?\]"


def cited(text):
    comments = re.findall(r"//(.*)$", text, re.MULTILINE)
    return [match.group(1) for line in comments for match in re.finditer(citation, line, re.IGNORECASE)
            if len(match.group(1)) > 3 and match.group(1)[0].isupper()]


class References(unittest.TestCase):
    def test_every_cited_key_exists(self):
        missing = [f"{path}: [{key}]" for path in project.files() if path.suffix in (".hpp", ".cpp")
                   for key in cited(project.text(path)) if key not in keys]
        self.assertFalse(missing, "cited, but not in references.bib:\n" + "\n".join(missing))

    def test_citations_are_told_from_units(self):
        self.assertEqual(cited("// see [Haddouni, (2.20)] and [Anitescu-Potra, Thm 2.1]\n"), ["Haddouni", "Anitescu-Potra"])
        self.assertEqual(cited("double p;  // [N s] and [m/s], [0, 1], [kg m^2], q[0] in [Pa]\n"), [])
        self.assertEqual(cited("const auto x = table[Index];\n"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
