"""Random scenes of bodies thrown at thin obstacles, with what must happen: the cases of hunt_passing.py."""
import dataclasses
import math
import time

from passing_shapes import (add, minus, times, dot, norm, unit, cross, multiply, turn, turned, Random, radius, extent,
                            any_shape, Body, Case, boxes_meet, rectangle, Bar, deepest)

most_steps = 10000     # of a run without step control, before the impact


def laws(rng, case):
    case.restitution, case.friction = rng.choice((0.0, 0.3, 0.8)), rng.choice((0.0, 0.3))


def after(rng, size, speed, h):
    """[s] From the impact to the end."""
    return rng.uniform(3, 10) * size / speed + rng.choice((0.0, rng.uniform(0, 3) * h, rng.uniform(3, 6) * h))


def plate(thickness, half):
    return Body(("box", [2 * half, 2 * half, thickness]), [0.0, 0.0, -thickness / 2])


def falls(rng, case, body, thickness, travel):
    """The body onto a plate with its upper side in z = 0."""
    half = 1.2 * travel + 2 * radius(body.shape) + rng.uniform(0.05, 0.5)
    case.bodies = {"plate": plate(thickness, half), "body": body}
    case.sides = [("body", [0.0, 0.0, 1.0], 0.0, thickness / 2)]


def drop(rng, h):
    case, g = Case(), rng.uniform(1, 30)
    laws(rng, case)
    shape = any_shape(rng, rng.power(0.005, 0.3))
    speed, thickness = rng.power(0.5, 30), rng.power(0.002, 0.1)
    start = max(0.0 if rng.chance(0.7) else rng.uniform(0, speed), speed - g * h * most_steps)
    body = Body(shape, [0.0, 0.0, 0.0], rng.attitude(), [0.0, 0.0, -start], mass=rng.power(0.01, 100))
    case.time, case.path, case.speed = (speed - start) / g, "fall", speed
    body.at[2] = (speed - start) * (speed + start) / (2 * g) + extent(shape, body.attitude, [0.0, 0.0, -1.0])
    rest = after(rng, radius(shape), speed, h) + rng.choice((0.0, rng.uniform(0, 0.2)))
    case.kind, case.gravity = shape[0], [0.0, 0.0, -g]
    if rng.chance(0.3):
        tumble(rng, case, body, speed, rng.power(0.1, 30))
    case.end = case.latest() + rest
    falls(rng, case, body, thickness, (speed + g * rest) * rest)
    return case


def tumble(rng, case, body, speed, rate):
    """Turns on the way; only that of a sphere has a known time. From as far up as it may need to turn."""
    body.spin = times(rate, rng.direction())
    case.kind += "-turning"
    if body.shape[0] != "sphere":
        body.at[2] += radius(body.shape) - extent(body.shape, body.attitude, [0.0, 0.0, -1.0])
        case.last = case.time + 2 * radius(body.shape) / speed
        case.time = None


def throw(rng, h):
    case = Case()
    laws(rng, case)
    shape = any_shape(rng, rng.power(0.003, 0.3))
    speed, angle, thickness = rng.power(0.5, 1000), math.radians(rng.uniform(0, 70)), rng.power(0.002, 0.05)
    across, down = speed * math.sin(angle), speed * math.cos(angle)
    gap = min(rng.power(1e-6, 5), down * h * most_steps)
    body = Body(shape, [0.0, 0.0, 0.0], rng.attitude(), [across, 0.0, -down], mass=rng.power(0.01, 100))
    body.at[2] = gap + extent(shape, body.attitude, [0.0, 0.0, -1.0])
    case.time, case.speed, case.kind = gap / down, down, shape[0]
    body.at[0] = -across * case.time
    if rng.chance(0.3):
        tumble(rng, case, body, down, min(rng.power(0.1, 1000), 0.3 / h))
    elif shape[0] == "sphere" and not case.friction:
        case.rebound = ("body", [0.0, 0.0, 1.0], down)
    rest = after(rng, radius(shape), speed, h)
    case.end = case.latest() + rest
    falls(rng, case, body, thickness, speed * (case.end - case.time if case.time else 2 * case.end))
    return case


def box_gap(p, half):
    """[m] Of a point from the box of half lengths `half` about the origin."""
    return math.hypot(*(max(abs(x) - z, 0.0) for x, z in zip(p, half)))


def nearest_on_line(at, u, half):
    """[m] s at which at + s u is nearest to the box: its distance is convex in s."""
    gap = lambda s: box_gap(add(at, times(s, u)), half)
    low, high = -1e3, 1e3
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if gap(a) < gap(b) else (a, high)
    return (low + high) / 2


def beside(rng, half, u, wanted):
    """A point from which a line along u passes the edge of a plate at this distance."""
    low, high = half[0], half[0] + 1e3
    y, z = rng.uniform(-1, 1) * half[1], rng.uniform(-2, 2) * half[2]
    for _ in range(60):
        p = [(low + high) / 2, y, z]
        near = box_gap(add(p, times(nearest_on_line(p, u, half), u)), half) < wanted
        low, high = (p[0], high) if near else (low, p[0])
    return [high, y, z]


def miss(rng, h):
    case = Case(hit=False, kept=["body"], path="straight")
    laws(rng, case)
    shape = any_shape(rng, rng.power(0.003, 0.3))
    speed, thickness, half = rng.power(0.5, 1000), rng.power(0.002, 0.05), rng.power(0.1, 3)
    body = Body(shape, [0.0, 0.0, 0.0], rng.attitude(), mass=rng.power(0.01, 100))
    if shape[0] == "sphere" and rng.chance(0.5):
        body.spin = times(rng.power(0.1, 1000), rng.direction())
    case.bodies = {"plate": plate(thickness, half), "body": body}
    way = min(rng.uniform(0.5, 2) * (half + radius(shape)), speed * h * most_steps / 2)
    case.end = 2 * way / speed
    if rng.chance(0.3):
        case.kind = f"{shape[0]}-along"
        body.velocity = [speed, 0.0, 0.0]
        body.at = [-way, rng.uniform(-half, half), rng.power(1e-4, 0.05) + extent(shape, body.attitude, [0.0, 0.0, -1.0])]
        return case
    case.kind = f"{shape[0]}-edge"
    u = rng.direction()
    p = beside(rng, [half, half, thickness / 2], u, radius(shape) + rng.power(0.01, 1))
    body.velocity = times(speed, u)
    body.at = add(add(p, [0.0, 0.0, -thickness / 2]), times(-way, u))
    return case


def clip(rng, h):
    """The edge of a plate is hit, deep or by a hair."""
    while True:
        case = Case(kind=rng.choice(("sphere", "box")), struck=["body"])
        laws(rng, case)
        speed, size, u = rng.power(0.5, 1000), rng.power(0.003, 0.1), rng.direction()
        half = [rng.power(0.1, 1)] * 2 + [rng.power(0.001, 0.025)]
        shape = ("sphere", size) if case.kind == "sphere" else ("box", [size * rng.power(0.3, 3) for _ in range(3)])
        way = min(radius(shape) + rng.power(0.01, 3), speed * h * most_steps)
        body = Body(shape, [0.0, 0.0, 0.0], rng.attitude(), times(speed, u), mass=rng.power(0.01, 100))
        p = beside(rng, half, u, radius(shape) * rng.uniform(0, 0.98))
        s = nearest_on_line(p, u, half)
        body.at = add(p, times(s - way, u))
        case.bodies = {"plate": Body(("box", times(2, half)), [0.0, 0.0, 0.0]), "body": body}
        case.boxes = [("body", "plate")] if case.kind == "box" else []
        met = boxes_meet(body, case.bodies["plate"]) if case.kind == "box" else sphere_meets(body, half, way / speed)
        if met and abs(dot(met[1], body.velocity)) > 0.1 * speed and (
                case.kind == "sphere" or deepest(body, case.bodies["plate"], met[0], 300)[0] > 0.02):
            case.time, case.speed = met[0], abs(dot(met[1], body.velocity))
            case.end = case.time + after(rng, radius(shape), speed, h)
            return case


def sphere_meets(body, half, until):
    """(time, normal) at which a sphere touches a box about the origin."""
    r, at = body.shape[1], lambda t: add(body.at, times(t, body.velocity))
    low, high = 0.0, until
    if box_gap(at(low), half) < r or box_gap(at(high), half) > r:
        return None
    for _ in range(100):
        t = (low + high) / 2
        low, high = (t, high) if box_gap(at(t), half) > r else (low, t)
    p = at(low)
    return low, unit(minus(p, [min(max(x, -z), z) for x, z in zip(p, half)]))


def meet(rng, h):
    case = Case(kind=rng.choice(("spheres", "sphere-box", "boxes")))
    laws(rng, case)
    speed, angle = rng.power(1, 1000), math.radians(rng.uniform(0, 45))
    n = rng.direction()
    across = unit(cross(n, rng.direction()))
    approach = add(times(-speed * math.cos(angle), n), times(speed * math.sin(angle), across))
    common = times(rng.power(0.1, 500), rng.direction())
    share, sizes = rng.random(), [rng.power(0.003, 0.2) for _ in range(2)]
    case.speed, case.time = speed * math.cos(angle), min(rng.power(1e-5, 3) / speed, h * most_steps)
    shapes = [("sphere", sizes[0]) if case.kind != "boxes" else ("box", [sizes[0] * rng.power(0.3, 3) for _ in range(3)]),
              ("sphere", sizes[1]) if case.kind == "spheres" else ("box", [sizes[1] * rng.power(0.1, 3) for _ in range(3)])]
    a, b = (Body(shape, [0.0, 0.0, 0.0], rng.attitude(), mass=rng.power(0.1, 10)) for shape in shapes)
    if case.kind == "sphere-box":
        b.attitude = facing(rng, n)
    place_meeting(rng, case, a, b, n)
    a.velocity, b.velocity = add(common, times(1 - share, approach)), add(common, times(-share, approach))
    a.at, b.at = minus(a.at, times(case.time, a.velocity)), minus(b.at, times(case.time, b.velocity))
    if case.kind == "boxes":
        case.boxes = [("a", "b")]
        met = boxes_meet(a, b)
        if not met or deepest(a, b, met[0], 300)[0] < 0.02:
            return meet(rng, h)
        case.time, case.speed = met[0], abs(dot(met[1], approach))
    else:
        case.parted = [("a", "b", n, case.speed)]
    if rng.chance(0.4):
        case.gravity, case.path = times(rng.uniform(1, 30), rng.direction()), "straight"
        case.driven = True
    case.bodies = {"a": a, "b": b}
    case.struck = [] if case.driven else [min(case.bodies, key=lambda name: case.bodies[name].mass)]
    case.end = case.time + after(rng, min(sizes), speed, h)
    return case


def facing(rng, n):
    """An attitude whose z is n."""
    z = [0.0, 0.0, 1.0]
    return multiply(turned(cross(z, n), math.acos(n[2])), turned(z, rng.uniform(0, 2 * math.pi)))


def place_meeting(rng, case, a, b, n):
    """At the moment of touch; boxes somewhat apart, their time is found later."""
    if case.kind == "boxes":
        a.at = times(radius(a.shape) + radius(b.shape), n)
        return
    a.at = times(a.shape[1] + extent(b.shape, b.attitude, n), n)
    if case.kind == "sphere-box":
        a.at = add(a.at, turn(b.attitude, [rng.uniform(-0.15, 0.15) * x for x in b.shape[1][:2]] + [0.0]))


def thin(rng, h):
    """A thin plate flat or edge-on at a thin plate, or two blades that cross."""
    case = Case(kind=rng.choice(("flat", "edge-on", "corner", "blades", "tilted-blades")), boxes=[("body", "plate")],
                struck=["body"])
    laws(rng, case)
    size, speed, angle = rng.power(0.03, 0.4), rng.power(0.5, 1000), math.radians(rng.uniform(0, 40))
    across, down, azimuth = speed * math.sin(angle), speed * math.cos(angle), rng.uniform(0, 2 * math.pi)
    shape = ("box", [size, size * rng.uniform(0.3, 1), 0.002])
    z, x = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    upright = turned([1.0, 0.0, 0.0], math.pi / 2)
    attitude = multiply(turned(z, azimuth), {"flat": [1.0, 0.0, 0.0, 0.0], "corner": rng.attitude()}.get(case.kind, upright))
    gap = min(rng.power(1e-5, 3), down * h * most_steps)
    body = Body(shape, [0.0, 0.0, 0.0], attitude, [across, 0.0, -down], mass=rng.power(0.01, 10))
    thickness, rest = rng.power(0.002, 0.01), after(rng, size, speed, h)
    case.time, case.speed = gap / down, down
    falls(rng, case, body, thickness, speed * rest)
    if "blades" in case.kind:
        case.sides = []
        case.bodies["plate"] = Body(("box", [size * rng.uniform(1, 3), thickness, size]), [0.0, 0.0, -size / 2])
        body.velocity = [0.0, 0.0, -speed] if rng.chance(0.5) else [across * 0.1, 0.0, -down]
        body.attitude = multiply(turned(z, rng.uniform(math.radians(20), math.radians(160))), upright)
    if case.kind == "tilted-blades":
        body.attitude = multiply(turned(x, rng.uniform(-0.5, 0.5)), body.attitude)
    body.at = minus([0.0, 0.0, extent(shape, body.attitude, z)], times(case.time, body.velocity))
    met = boxes_meet(body, case.bodies["plate"])
    if not met:
        return thin(rng, h)
    case.time, case.speed = met[0], abs(dot(met[1], body.velocity))
    case.end = case.time + rest
    return case


def corridor(rng, h):
    """A sphere between two thin plates: many impacts, one after the other."""
    case = Case(restitution=rng.choice((0.8, 1.0)), friction=rng.choice((0.0, 0.3)))
    size, speed, angle = rng.power(0.003, 0.1), rng.power(0.5, 1000), math.radians(rng.uniform(0, 60))
    free, thickness = rng.power(0.01, 1), rng.power(0.002, 0.02)
    across, down = speed * math.sin(angle), speed * math.cos(angle)
    gap = free * rng.uniform(0.01, 1)
    case.kind = f"e-{case.restitution}"
    body = Body(("sphere", size), [0.0, 0.0, gap + size], rng.attitude(), [across, 0.0, -down], mass=rng.power(0.01, 10))
    case.time, case.speed = gap / down, down
    bounces = rng.randint(2, 12)
    z, u, t = gap, -down, 0.0
    for k in range(bounces):
        t += (z if u < 0 else free - z) / abs(u)
        z, u = (0.0 if u < 0 else free), -case.restitution * u
    rest = rng.uniform(0.1, 0.9) * free / abs(u)
    case.end = min(t + rest, h * most_steps * 2)
    if case.end == t + rest and not case.friction:
        case.final = ("body", [0.0, 0.0, 1.0], z + u * rest + size, 1e-5 * free)
    falls(rng, case, body, thickness, speed * case.end)
    case.bodies["ceiling"] = dataclasses.replace(case.bodies["plate"], at=[0.0, 0.0, free + 2 * size + thickness / 2])
    case.sides.append(("body", [0.0, 0.0, -1.0], -(free + 2 * size), thickness / 2))
    if case.time > case.end:
        return corridor(rng, h)
    return case


def push(rng, h):
    """From rest by a load, at once or all of a sudden later."""
    case = Case(path="fall", driven=True)
    laws(rng, case)
    shape = any_shape(rng, rng.power(0.003, 0.3))
    gain, mass, thickness = rng.power(10, 1e5), rng.power(0.01, 100), rng.power(0.002, 0.05)
    gap = rng.power(0.01, 3)
    way_time = math.sqrt(2 * gap / gain)
    begin = 0.0 if rng.chance(0.5) else rng.uniform(0, 3) * way_time
    case.time, case.speed, case.kind = begin + way_time, gain * way_time, shape[0]
    body = Body(shape, [0.0, 0.0, 0.0], rng.attitude(), mass=mass)
    body.at[2] = gap + extent(shape, body.attitude, [0.0, 0.0, -1.0])
    if begin:
        case.path, case.kind = "switched", shape[0] + "-later"

    def loads(q, offset):
        formula = lambda x: f'"t < {begin!r} ? 0 : {x!r}"' if begin else repr(x)
        down = turn(q, [0.0, 0.0, -gain * mass])
        return f"forces:\n  push: {{load: {{body: body, force: [{', '.join(formula(x) for x in down)}]}}}}"
    case.extra = loads
    rest = after(rng, radius(shape), case.speed, h)
    case.end = case.time + rest
    falls(rng, case, body, thickness, (case.speed + gain * rest) * rest)
    return case


def bar_case(rng, h, hinged, hit):
    """A bar that turns beside a wall in the plane z = 0, tried until it hits squarely, or stays clear."""
    while True:
        length, capsule, rate = rng.power(0.1, 2), rng.chance(0.4), rng.power(1, 200) * rng.choice((-1, 1))
        width, angle = length * rng.power(0.01, 0.2), rng.uniform(0, 2 * math.pi)
        reach = length if hinged else length / 2
        at = (length / 2 * math.cos(angle), length / 2 * math.sin(angle)) if hinged else (0.0, 0.0)
        velocity = (0.0, 0.0)
        if not hinged and rng.chance(0.4):
            u, speed = rng.uniform(0, 2 * math.pi), rng.power(0.01, 3) * abs(rate) * length
            velocity = (speed * math.cos(u), speed * math.sin(u))
        bar = Bar(length, width, capsule, at, velocity, angle, rate, (0.0, 0.0) if hinged else None)
        away, u, tilt = reach * rng.uniform(0.1, 1.5), rng.uniform(0, 2 * math.pi), rng.uniform(0, math.pi)
        size = (reach * rng.power(0.2, 5), rng.power(0.002, 0.03))
        centre = (away * math.cos(u), away * math.sin(u))
        wall = rectangle(*size, centre, tilt)
        window = min(rng.power(0.3, 20) / abs(rate), h * most_steps)
        clear = max(0.01, 0.02 * length)
        if overlap(rectangle(length + width * capsule, width, at, angle), wall) or bar.distance(0.0, wall) < clear:
            continue
        found = bar.meets(wall, window)
        if hit and found and found[1] > 0.1 * bar.fastest():
            return bar, size, centre, tilt, found
        if not hit and not found and bar.nearest(wall, window, clear) >= clear and away < 1.2 * reach + window * norm(velocity):
            return bar, size, centre, tilt, (window, 0.0)


def overlap(p, q):
    """Whether two rectangles do."""
    for a, b in [(r[i], r[i + 1]) for r in (p, q) for i in (0, 1)]:
        n = (b[0] - a[0], b[1] - a[1])
        along = [[n[0] * x + n[1] * y for x, y in r] for r in (p, q)]
        if max(along[0]) < min(along[1]) or max(along[1]) < min(along[0]):
            return False
    return True


def bar(rng, h, hinged, hit):
    moving, size, centre, tilt, (t, speed) = bar_case(rng, h, hinged, hit)
    case = Case(hit=hit, kind="capsule" if moving.capsule else "box", rate=abs(moving.rate))
    laws(rng, case)
    case.plane = rng.chance(0.25)
    depth = moving.width * rng.uniform(0.3, 1)
    z = [0.0, 0.0, 1.0]
    shape = ("capsule", moving.width / 2, moving.length) if moving.capsule else ("box", [moving.length, moving.width, depth])
    speeds = moving.velocity
    if hinged:
        speeds = (-moving.rate * moving.at[1], moving.rate * moving.at[0])
    body = Body(shape, list(moving.at) + [0.0], turned(z, moving.angle), list(speeds) + [0.0], [0.0, 0.0, moving.rate],
                rng.power(0.1, 10), moving.capsule)
    wall = Body(("box", [size[0], size[1], 2 * moving.length]), list(centre) + [0.0], turned(z, tilt))
    case.bodies = {"wall": wall, "body": body}
    case.time, case.speed, case.path = (t if hit else None), speed, "hinge" if hinged else "straight"
    case.end = t + rng.uniform(0.2, 1.5) / abs(moving.rate) if hit else t
    if not hit and not hinged:
        case.kept = ["body"]
    if hit:
        case.struck = ["body"]
    if hinged:
        case.extra = lambda q, offset: (f"joints:\n  hinge: {{revolute: {{a: ground, b: body, at: {offset!r}, "
                                        f"axis: {turn(q, z)!r}}}}}")
    if hit and not moving.capsule:
        case.boxes = [("body", "wall")]
    return case


families = {"drop": drop, "throw": throw, "miss": miss, "meet": meet, "thin": thin, "corridor": corridor, "push": push,
            "clip": clip, "spin": lambda rng, h: bar(rng, h, False, True), "spin-miss": lambda rng, h: bar(rng, h, False, False),
            "hinge": lambda rng, h: bar(rng, h, True, True), "hinge-miss": lambda rng, h: bar(rng, h, True, False)}
