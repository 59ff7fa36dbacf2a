#!/usr/bin/env python3
"""The scenes that every engine gets, as plain dictionaries (bench/README.md describes them). SI units, z up.

    bench/peers/scenes.py FOLDER        writes them as FOLDER/<name>.json

A body has a shape (plane: half-space z <= 0; box; sphere; capsule along its z), a mass (0: fixed), principal moments of inertia,
a position of its centre of mass and an attitude (w x y z). Joints are ball joints; a = -1 is the world. An event places a body anew
before the step whose number it carries. Everything is the same in every run: random numbers have fixed seeds.
"""
import json
import math
import pathlib
import random
import sys

G = 9.81
H = 1 / 60
UPRIGHT = [1.0, 0.0, 0.0, 0.0]


def box(half, mass):
    squares = [(2 * c) ** 2 for c in half]
    return {"shape": {"type": "box", "half": list(half)}, "mass": mass,
            "inertia": [mass * (sum(squares) - s) / 12 for s in squares]}


def sphere(radius, mass):
    return {"shape": {"type": "sphere", "radius": radius}, "mass": mass, "inertia": [0.4 * mass * radius**2] * 3}


def capsule(radius, half_length, density):
    """Moments of a cylinder and of two half balls, whose centroids lie at half_length + 3/8 radius from the middle."""
    length = 2 * half_length
    cylinder, balls = density * math.pi * radius**2 * length, density * 4 / 3 * math.pi * radius**3
    along = cylinder * radius**2 / 2 + balls * 0.4 * radius**2
    across = (cylinder * (3 * radius**2 + length**2) / 12
              + balls * (0.4 * radius**2 + half_length**2 + 0.75 * half_length * radius))
    return {"shape": {"type": "capsule", "radius": radius, "half_length": half_length}, "mass": cylinder + balls,
            "inertia": [across, across, along]}


def at(body, position, attitude=UPRIGHT, **more):
    return {**body, "pos": list(position), "quat": list(attitude), **more}


def fixed(shape, position):
    return at({"shape": shape, "mass": 0.0, "inertia": [0, 0, 0]}, position)


def ground():
    return fixed({"type": "plane"}, [0, 0, 0])


def scene(name, seconds, bodies, **more):
    return {"name": name, "h": H, "steps": round(seconds / H), "gravity": [0, 0, -G], "mu": 0.5, "restitution": 0.0,
            "contact_stiffness": 0.0, "bodies": bodies, "joints": [], "events": [], "forces": [], "checks": {}, **more}


def wall(name, depth):
    """105 bricks in running bond with half bricks at the ends and open side joints; a ball comes at t = 1 s."""
    width, height, gap = 0.4, 0.2, 0.002
    half_brick = (width - gap) / 4
    end = 5 * (width + gap) - gap / 2 - half_brick  # of the half bricks' centres, so that all rows end in one line
    bodies = [ground()]
    for row in range(10):
        full = 10 if row % 2 == 0 else 9
        places = [((i - (full - 1) / 2) * (width + gap), width / 2) for i in range(full)]
        if row % 2 == 1:
            places += [(-end, half_brick), (end, half_brick)]
        for x, half in places:
            brick = box([half, depth / 2, height / 2], 1000 * 2 * half * depth * height)
            bodies.append(at(brick, [x, 0, height * (row + 0.5)]))
    hit = {"step": round(1 / H), "body": len(bodies), "pos": [0.05, -depth / 2 - 0.32, 1.0], "quat": UPRIGHT,
           "linvel": [0, 10, 0], "angvel": [0, 0, 0]}
    bodies.append(at(sphere(0.3, 200.0), [0, -8, 0.3], role="projectile"))
    return scene(name, 4, bodies, events=[hit], checks={"rest": [0, 1], "energy_scale": 0.5 * 200 * 10**2})


def logs():
    """40 capsules between two guides on an incline of 10 degrees across them, done by tilting gravity."""
    radius, numbers, tilt = 0.15, random.Random(3), math.radians(10)
    bodies = [ground()]
    for side in (-1, 1):
        bodies.append(fixed({"type": "box", "half": [0.25, 3.0, 1.75]}, [side * 1.45, 0, 1.75]))
    log = capsule(radius, 2.0 - radius, 700)
    layers = [(row, i, 7 - row % 2) for row in range(7) for i in range(7 - row % 2)]
    for row, i, count in layers[:40]:
        yaw = numbers.uniform(-0.005, 0.005)
        c, s = math.cos(yaw / 2), math.sin(yaw / 2)
        lying = [math.cos(math.pi / 4), -math.sin(math.pi / 4)]  # a turn by -90 degrees about x lays z along y; then yaw
        attitude = [c * lying[0], c * lying[1], s * lying[1], s * lying[0]]
        position = [(i - (count - 1) / 2) * 0.335, numbers.uniform(-0.02, 0.02), 0.2 + 0.4 * row]
        bodies.append(at(log, position, attitude))
    return scene("logs", 5, bodies, gravity=[G * math.sin(tilt), 0, -G * math.cos(tilt)],
                 checks={"rest": [4, 5], "energy_scale": 40 * log["mass"] * G * 0.5})


def stack(name, top_mass):
    """20 cubes of 1 m and 1000 kg, the top one of another mass."""
    masses = [1000.0] * 19 + [top_mass]
    bodies = [ground()] + [at(box([0.5] * 3, m), [0, 0, 0.5 + i]) for i, m in enumerate(masses)]
    return scene(name, 5, bodies, checks={"rest": [0, 5], "drift_body": 20, "energy_scale": sum(masses) * G * 0.01})


def pile(count, side):
    """Balls dropped from a loose grid into a box."""
    numbers, radius, pitch = random.Random(count), 0.1, 0.23
    inside = side * pitch + 0.1
    bodies = [ground()]
    for axis in (0, 1):
        for sign in (-1, 1):
            half, position = [inside / 2 + 1, inside / 2 + 1, 3.0], [0, 0, 3.0]
            half[axis], position[axis] = 0.5, sign * (inside / 2 + 0.5)
            bodies.append(fixed({"type": "box", "half": half}, position))
    ball = sphere(radius, 1000 * 4 / 3 * math.pi * radius**3)
    for i in range(count):
        layer, rest = divmod(i, side * side)
        y, x = divmod(rest, side)
        grid = [(x - (side - 1) / 2) * pitch, (y - (side - 1) / 2) * pitch, 0.15 + layer * pitch]
        bodies.append(at(ball, [c + numbers.uniform(-0.01, 0.01) for c in grid]))
    return scene(f"pile{count}", 2, bodies, checks={"rest": [1.5, 2], "energy_scale": count * ball["mass"] * G * 0.5})


def chain(name, links, length, mass, tip_mass):
    """Rods and a heavy ball at the end, hung on ball joints at a fixed point and released horizontally."""
    half, radius, last = length / 2, 0.25, links - 1
    bodies = [at(box([half, length / 10, length / 10], mass), [half + length * i, 0, 0], collide=False) for i in range(last)]
    bodies.append(at(sphere(radius, tip_mass), [length * last + radius, 0, 0], collide=False))
    joints = [{"a": i - 1, "b": i, "pa": [half if i else 0, 0, 0], "pb": [-(radius if i == last else half), 0, 0]}
              for i in range(links)]
    return scene(name, 5, bodies, joints=joints, checks={"energy_scale": tip_mass * G * (length * last + radius)})


def bisect(f, a, b):
    """The zero of f between a and b, to rounding."""
    above = f(a) > 0
    for _ in range(100):
        middle = (a + b) / 2
        a, b = (middle, b) if (f(middle) > 0) == above else (a, middle)
    return (a + b) / 2


def stick_slip(mass, mu, amplitude, end):
    """Motion of m x'' = A cos t + friction from rest, |friction| <= mu m g: x at the end, and the intervals of sliding. Between its
    changes it is a closed form; these are found by looking every millisecond and bisection."""
    limit, look = mu * mass * G, 1e-3
    t, x, slips = 0.0, 0.0, []
    excess = lambda s: abs(amplitude * math.cos(s)) - limit
    while t < end:
        s = t + 1e-9
        if excess(s) <= 0:  # sticks until the force exceeds the limit
            while s < end and excess(s) <= 0:
                s += look
            if s >= end:
                break
            t = bisect(excess, s - look, s)
        t0, sign = t, math.copysign(1, math.cos(t))
        speed = lambda s: (amplitude * (math.sin(s) - math.sin(t0)) - sign * limit * (s - t0)) / mass
        way = lambda s: (amplitude * (math.cos(t0) - math.cos(s) - math.sin(t0) * (s - t0))
                         - sign * limit * (s - t0) ** 2 / 2) / mass
        s = t0 + look
        while s < end and sign * speed(s) > 0:
            s += look
        t = bisect(speed, s - look, s) if s < end else end
        x += way(t)
        slips.append([t0, t])
    return x, slips


def slide():
    """A box pushed by 8 cos t N, a little more than its friction holds: four short slips in 10 s."""
    mu, amplitude, end = 0.8, 8.0, 10.0
    x, slips = stick_slip(1.0, mu, amplitude, end)
    force = {"body": 1, "amplitude": [amplitude, 0, 0], "omega": 1.0}
    return scene("slide", end, [ground(), at(box([0.25, 0.25, 0.1], 1.0), [0, 0, 0.1])], mu=mu, forces=[force],
                 checks={"slide_body": 1, "slide_axis": 0, "x_end": x, "slips": slips})


def squeeze():
    """A box between two walls that overlap it by 1 mm each, without gravity, pulled by 2000 N. With springs of the given stiffness,
    which engines that have contact stiffness use, friction takes half of it and the box comes 6.25 m far."""
    stiffness, overlap, mass, mu, force = 1e6, 1e-3, 80.0, 0.5, 2000.0
    bodies = [fixed({"type": "box", "half": [0.5, 20, 3]}, [side * (0.6 - overlap), 0, 0]) for side in (-1, 1)]
    bodies.append(at(box([0.1, 0.1, 1.0], mass), [0, 0, 0]))
    return scene("squeeze", 1, bodies, gravity=[0, 0, 0], contact_stiffness=stiffness,
                 forces=[{"body": 2, "amplitude": [0, force, 0], "omega": 0.0}],
                 checks={"slide_body": 2, "slide_axis": 1, "x_end": (force - 2 * mu * stiffness * overlap) / mass / 2})


def all_scenes():
    return [stack("stack", 1e3), stack("stack-heavy", 1e6), slide(), squeeze(), chain("chain20", 20, 0.5, 5.0, 500.0),
            chain("chain", 100, 0.2, 1.0, 1000.0), logs(), wall("wall", 0.2), wall("wall-long", 0.8), pile(1000, 10),
            pile(5000, 17)]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for one in all_scenes():
        (folder / (one["name"] + ".json")).write_text(json.dumps(one))
