"""Functions fit a screen or two, and none keeps state of its own between calls."""
import pathlib
import re
import unittest

import project

longest = 100  # lines of a function, from the first of its head to the closing brace
# Functions that are one table: long as what they list.
tables = {("src/model/joints/table.cpp", "make_table")}
# Longer than they should be. A name leaves the list with the function that is cut; none comes to it.
still_long = {
    ("src/schemes/euler.cpp", "Euler::step"),
    ("src/schemes/events/instant_forces.cpp", "InstantForces::evaluate"),
}
# Every thread has its own parser of formulas and its own clock; all other memory has an owner that a caller can see.
may_be_thread_local = {"src/scene/formula.cpp", "src/base/threads.cpp"}


def blanked(text):
    """The text with comments, strings and lines of the preprocessor emptied; line breaks stay."""
    pattern = (r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
               r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*")

    def empty(match):
        return ('""' if match.group(0)[0] in 'R"' else "") + "\n" * match.group(0).count("\n")
    return re.sub(pattern, empty, text, flags=re.DOTALL | re.MULTILINE)


def closing(text, opened):
    """Position of the brace that closes the one at `opened`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opened):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.start()
    raise AssertionError(f"no brace closes that of line {text.count(chr(10), 0, opened) + 1}")


def kind(head):
    """What a brace opens after the words `head`: a scope, a function, or a value."""
    head = head.strip()
    if re.search(r"\b(?:namespace|class|struct|union|enum)\b[^()=]*$", head) or re.search(r'\bextern\s*""$', head):
        return "scope"
    after_parameters = re.search(r"(?:\)|\)\s*(?:const|noexcept|override|final|try|&|\s)+|->\s*[\w:<>,\s*&]+)$", head)
    return "function" if "(" in head and after_parameters else "value"


def functions(text):
    """(name, first line, number of lines) of every function. A lambda counts as part of the function it stands in."""
    text = blanked(text)
    found, start, at = [], 0, 0  # `start`: where the words before the next brace begin
    while match := re.compile(r"[{};]").search(text, at):
        head, at = text[start:match.start()], match.end()
        what = kind(head) if match.group(0) == "{" else "end"
        if what == "value":
            at = closing(text, match.start()) + 1  # of a variable, or of a member before the body of a constructor
            continue
        if what == "function":
            at = closing(text, match.start()) + 1
            first = text.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
            name = re.search(r"(operator\b\s*(?:\(\)|[^(]+)|[~\w:]+)\s*\(", head).group(1)
            found.append((name, first, text.count("\n", 0, at) + 2 - first))
        start = at
    return found


def sources(*folders):
    return [path for path in project.files() if path.parts[0] in folders and path.suffix in (".hpp", ".cpp")]


class Functions(unittest.TestCase):
    def test_none_is_too_long(self):
        wrong, count = [], 0
        for path in sources("src", "cli", "include"):
            for name, line, length in functions(project.text(path)):
                count += 1
                if length > longest and (str(path), name) not in tables | still_long:
                    wrong.append(f"{path}:{line}: {name} has {length} lines, more than {longest}")
        self.assertGreater(count, 1000, "hardly any functions found: does the search still work?")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_none_keeps_state_of_its_own(self):
        wrong = [str(path) for path in sources("src", "cli", "include")
                 if "thread_local" in blanked(project.text(path)) and str(path) not in may_be_thread_local]
        self.assertFalse(wrong, "thread_local hides who owns the memory: " + ", ".join(wrong))

    def test_functions_of_a_sample_are_found_with_their_lengths(self):
        sample = """namespace a {
// f() {
struct S : Base<int> {
    S(int x) : Base{x}, y_(x) {
        g("}");
    }
    bool operator==(const S& o) const { return true; }
    int operator()(int i) { return i; }
    int y_ = {};
};
const std::vector<int> list{1, 2};
template <class T>
auto h(T t)
    -> std::vector<T> {
    const auto l = [&](int i) {
        return i;
    };
    if (t) {
    }
}
}  // namespace a
"""
        self.assertEqual(functions(sample), [("S", 4, 3), ("operator==", 7, 1), ("operator()", 8, 1), ("h", 12, 9)])
        self.assertEqual(functions("void f() {\n" + "x();\n" * 99 + "}\n")[0][2], 101)


if __name__ == "__main__":
    unittest.main(verbosity=2)
