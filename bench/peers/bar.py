"""The bar of quality: what a run of a scene must not do. It is low; it tells results from nonsense, not good from better."""


def failures(scene, steps, result, measured):
    """Sentences, none if the run passes. `result` is what the driver wrote, `measured` what measure.cpp found."""
    name, value = scene["name"], lambda key: measured.get(key, 0)
    wall, whole = name.startswith("wall"), steps == scene["steps"]
    rules = [
        (measured["blow_up"] >= 0, f"blows up at step {measured['blow_up']}"),
        (result.get("diverged", False), "diverged, engine started anew"),
        (value("energy_over") > 0.01, "energy above the start"),
        (value("drift") > 0.5, "fell or leans by more than 0.5 m"),
        (value("joint_error") > 0.2, "joint open by more than 0.2 m"),
        (value("creep") > 1e-3, "creeps by more than 1 mm"),
        (name == "slide" and abs(value("x_error")) > 1e-3, "ends more than 1 mm off"),
        (name == "squeeze" and abs(value("x_end")) < 0.1, "does not slide"),
        (name == "squeeze" and value("x_end") > 12, "has no friction"),
        (name == "squeeze" and value("overlap_max") > 0.01, "is pushed into a wall"),
        (name.startswith("pile") and value("overlap_end") > 0.1, "balls inside each other"),
        (name == "logs" and whole and value("rest_move") > 0.02, "still moves after 4 s"),
        (wall and value("rest_move") > 0.02, "does not rest before the hit"),
        ((wall or name == "logs") and whole and value("overlap_end") > 0.03, "overlaps by more than 30 mm at the end"),
        (bool(result.get("refusal")), "refused a step"),
        (not whole and not result.get("refusal"), "stopped at the cap of time"),
    ]
    return [sentence for broken, sentence in rules if broken]
