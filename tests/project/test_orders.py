"""docs/orders.md holds every scheme on every problem of scripts/write-orders, and a cell of it can be made again."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

import project


def writer():
    """scripts/write-orders as a module."""
    path = str(project.source / "scripts/write-orders")
    loader = importlib.machinery.SourceFileLoader("write_orders", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("write_orders", loader))
    loader.exec_module(module)
    return module


class Orders(unittest.TestCase):
    def setUp(self):
        self.command = project.build / "bin/stickslip"
        if not self.command.exists():
            self.skipTest("the command is not built here")
        self.writer = writer()
        self.page = project.text(pathlib.Path("docs/orders.md"))
        rows = [line.strip("| ").split(" | ") for line in self.page.splitlines() if line.startswith("| `")]
        self.table = {row[0].strip("`"): row[1:] for row in rows}

    def again(self, problem, scheme):
        """(column, study) of a cell, made anew."""
        column = [name for name, _, _ in self.writer.problems].index(problem)
        arguments = self.writer.steps_for(problem, self.writer.problems[column][2], scheme)
        return column, self.writer.study(self.command, arguments, scheme)

    def test_every_scheme_is_in_it_with_every_problem(self):
        schemes = self.writer.scheme_names(self.command)
        self.assertIn("moreau-jean", schemes)
        self.assertIn("euler", schemes)
        for scheme in schemes:
            self.assertIn(scheme, self.table, f"run scripts/write-orders: docs/orders.md has no scheme {scheme}")
            self.assertEqual(len(self.table[scheme]), len(self.writer.problems), scheme)
        for name, _, arguments in self.writer.problems:
            self.assertIn(name, self.table, f"the reference of {name} is not stated")
            self.assertIn(arguments, self.page)

    def test_a_cell_can_be_made_again(self):
        column = [name for name, _, _ in self.writer.problems].index("free-body")
        arguments = self.writer.problems[column][2]
        for scheme in ("moreau-jean", "euler"):
            result = self.writer.study(self.command, arguments, scheme)
            self.assertEqual(self.writer.cell(result), self.table[scheme][column], scheme)

    def test_transitions_redundant_contacts_and_stiff_dampers_are_current(self):
        # Not those of order five: their last errors are near rounding.
        for problem, scheme in (("ball-slides-to-rolling", "hem3"), ("block-stops-on-slope", "trapezoidal"),
                                ("two-carts", "generalized-alpha"), ("two-carts", "trapezoidal")):
            column, result = self.again(problem, scheme)
            self.assertEqual(self.writer.cell(result), self.table[scheme][column], f"{scheme} on {problem}")

    def test_methods_of_order_five_keep_it_through_slip_to_stick_in_space(self):
        for scheme in ("hem5", "phem56", "dopri5", "hybrid"):
            column, result = self.again("ball-slides-to-rolling", scheme)
            self.assertGreaterEqual(result["order"]["q"], 4.8, scheme)
            self.assertGreaterEqual(float(self.table[scheme][column].split()[0]), 4.8, scheme)

    def test_cells_say_what_happened(self):
        row = {"finished": True, "error": {"q": 3.21e-5}}
        cell = self.writer.cell
        self.assertEqual(cell({"rows": [row, row], "order": {"q": 1.987}}), "1.99 (3.2e-05)")
        self.assertEqual(cell({"rows": [row], "order": {"q": None}}), "exact (3e-05)")
        self.assertEqual(cell({"rows": [{"finished": False, "error": {"q": None}}], "order": {"q": None}}), "refused")


if __name__ == "__main__":
    unittest.main(verbosity=2)
