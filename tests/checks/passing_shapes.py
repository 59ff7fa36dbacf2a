"""Bodies that fly and turn, and when two of them meet: what hunt_passing.py knows of geometry, apart from the program."""
import dataclasses
import math
import random


# Vectors, quaternions [w, x, y, z].

def add(a, b):
    return [x + y for x, y in zip(a, b)]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def times(s, a):
    return [s * x for x in a]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def norm(a):
    return math.sqrt(dot(a, a))


def unit(a):
    return times(1 / norm(a), a)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def multiply(p, q):
    return [p[0] * q[0] - dot(p[1:], q[1:])] + add(add(times(p[0], q[1:]), times(q[0], p[1:])), cross(p[1:], q[1:]))


def turn(q, a):
    t = times(2, cross(q[1:], a))
    return add(add(a, times(q[0], t)), cross(q[1:], t))


def back(q):
    return [q[0], -q[1], -q[2], -q[3]]


def turned(axis, angle):
    return [math.cos(angle / 2)] + times(math.sin(angle / 2), unit(axis))


class Random(random.Random):
    def power(self, low, high):
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def chance(self, share):
        return self.random() < share

    def direction(self):
        return unit([self.gauss(0, 1) for _ in range(3)])

    def attitude(self):
        return unit([self.gauss(0, 1) for _ in range(4)])


# Shapes: ("sphere", r), ("box", [x, y, z]), ("capsule", r, length).

def half_thickness(shape):
    return min(shape[1]) / 2 if shape[0] == "box" else shape[1]


def radius(shape):
    """[m] Of the ball around the centre that holds it."""
    return {"sphere": lambda: shape[1], "box": lambda: norm(shape[1]) / 2,
            "capsule": lambda: shape[1] + shape[2] / 2}[shape[0]]()


def extent(shape, q, n):
    """[m] How far it reaches along n from its centre."""
    n = turn(back(q), n)
    if shape[0] == "sphere":
        return shape[1]
    if shape[0] == "box":
        return math.fsum(abs(x) * y / 2 for x, y in zip(n, shape[1]))
    return shape[1] + abs(n[2]) * shape[2] / 2


def shape_text(shape, pose=""):
    value = {"sphere": lambda: repr(shape[1]), "box": lambda: repr(shape[1]),
             "capsule": lambda: f"{{radius: {shape[1]!r}, length: {shape[2]!r}}}"}[shape[0]]()
    return f"{{{shape[0]}: {value}{pose}}}"


def any_shape(rng, size):
    kind = rng.choice(("sphere", "box", "capsule"))
    if kind == "sphere":
        return ("sphere", size)
    if kind == "box":
        return ("box", [size * rng.power(0.3, 3) for _ in range(3)])
    return ("capsule", size * rng.power(0.3, 1), size * rng.power(0.5, 4))


@dataclasses.dataclass
class Body:
    shape: tuple
    at: list
    attitude: list = dataclasses.field(default_factory=lambda: [1.0, 0.0, 0.0, 0.0])
    velocity: list = dataclasses.field(default_factory=lambda: [0.0, 0.0, 0.0])
    spin: list = dataclasses.field(default_factory=lambda: [0.0, 0.0, 0.0])
    mass: float = 0.0          # [kg] 0: fixed
    lying: bool = False        # a capsule along x of the body

    def text(self):
        pose = "[" + ", ".join(repr(x) for x in self.at + self.attitude) + "]"
        shape = shape_text(self.shape, ", pose: {rpy_deg: [0, 90, 0]}" if self.lying else "")
        if not self.mass:
            return f"{{fixed: true, pose: {pose}, shapes: [{shape}]}}"
        return (f"{{mass: {self.mass!r}, pose: {pose}, shapes: [{shape}], velocity: {self.velocity!r}, "
                f"angular_velocity: {self.spin!r}}}")


@dataclasses.dataclass
class Case:
    """A scene, written in a frame that is then turned and shifted; what must come of it."""
    kind: str = ""
    bodies: dict = dataclasses.field(default_factory=dict)
    extra: str = ""            # joints and forces
    gravity: list = dataclasses.field(default_factory=lambda: [0.0, 0.0, 0.0])
    friction: float = 0.0
    restitution: float = 0.0
    plane: bool = False
    end: float = 1.0           # [s]
    hit: bool = True
    time: float = None         # [s] of the first impact
    last: float = None         # [s] the same where it is not known: by then it must have hit
    path: str = "straight"     # of what is exact: straight, fall, switched, hinge; bent: nothing
    speed: float = 1.0         # [m/s] of approach, or at which a bar turns
    rate: float = 0.0          # [rad/s] of a hinge
    size: float = 0.0          # [m] of the smallest body that moves
    sides: list = dataclasses.field(default_factory=list)    # (body, n, offset, half thickness of the obstacle)
    parted: list = dataclasses.field(default_factory=list)   # (a, b, n, speed): a must not approach b along n as fast as before
    boxes: list = dataclasses.field(default_factory=list)    # (a, b) that must not be deep in each other
    struck: list = dataclasses.field(default_factory=list)   # bodies whose velocity must change
    kept: list = dataclasses.field(default_factory=list)     # bodies whose velocity must not change
    rebound: tuple = None      # (body, n, speed before)
    final: tuple = None        # (body, n, where, tolerance)
    driven: bool = False       # energy may come in

    def latest(self):
        return self.time if self.time is not None else self.last

    def moved(self, q, offset):
        """The same elsewhere in the world."""
        for body in self.bodies.values():
            body.at = add(turn(q, body.at), offset)
            body.attitude = multiply(q, body.attitude)
            body.velocity, body.spin = turn(q, body.velocity), turn(q, body.spin)
        self.gravity = turn(q, self.gravity)
        self.sides = [(b, turn(q, n), x + dot(turn(q, n), offset), thick) for b, n, x, thick in self.sides]
        self.parted = [(a, b, turn(q, n), speed) for a, b, n, speed in self.parted]
        if self.rebound:
            self.rebound = (self.rebound[0], turn(q, self.rebound[1]), self.rebound[2])
        if self.final:
            body, n, x, tolerance = self.final
            self.final = (body, turn(q, n), x + dot(turn(q, n), offset), tolerance)
        self.extra = self.extra(q, offset) if callable(self.extra) else self.extra

    def text(self, note):
        lines = [f"# {note}", "stickslip: 1", f"gravity: {self.gravity!r}",
                 f"materials: {{default: {{friction: {self.friction!r}, restitution: {self.restitution!r}}}}}"]
        if self.plane:
            lines.append("plane: xy")
        lines += ["bodies:"] + [f"  {name}: {body.text()}" for name, body in self.bodies.items()]
        if self.extra:
            lines.append(self.extra)
        return "\n".join(lines + [f"run: {{end: {self.end!r}}}"]) + "\n"


# Exact times.

def box_axes(a, b):
    rows = [[turn(body.attitude, axis) for axis in ([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0])] for body in (a, b)]
    edges = [cross(x, y) for x in rows[0] for y in rows[1]]
    return rows[0] + rows[1] + [unit(n) for n in edges if norm(n) > 1e-9]


def box_depth(a, b):
    """[m] How far two boxes must be moved to lie apart; negative: they do."""
    depth = lambda n: extent(a.shape, a.attitude, n) + extent(b.shape, b.attitude, n) - abs(dot(n, minus(a.at, b.at)))
    return min(depth(n) for n in box_axes(a, b))


def boxes_meet(a, b):
    """(time, axis) at which boxes that do not turn touch, or None: they overlap while they do along every axis."""
    first, last, axis = -math.inf, math.inf, None
    for n in box_axes(a, b):
        reach = extent(a.shape, a.attitude, n) + extent(b.shape, b.attitude, n)
        x, u = dot(n, minus(a.at, b.at)), dot(n, minus(a.velocity, b.velocity))
        if u == 0:
            if abs(x) >= reach:
                return None
            continue
        enter, leave = sorted(((-reach - x) / u, (reach - x) / u))
        if enter > first:
            first, axis = enter, times(1 if x > 0 else -1, n)
        last = min(last, leave)
    return (first, axis) if 0 < first < last else None


def point_segment(p, a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    s = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy)
    s = min(max(s, 0.0), 1.0)
    return math.hypot(p[0] - a[0] - s * dx, p[1] - a[1] - s * dy)


def outline_distance(p, q):
    """[m] Of two convex outlines in the plane that do not overlap."""
    edges = lambda r: list(zip(r, r[1:] + r[:1])) if len(r) > 2 else [tuple(r)]
    return min(min(point_segment(x, *edge) for x in p for edge in edges(q)),
               min(point_segment(x, *edge) for x in q for edge in edges(p)))


def rectangle(x, y, at=(0.0, 0.0), angle=0.0):
    c, s = math.cos(angle), math.sin(angle)
    return [(at[0] + c * u - s * v, at[1] + s * u + c * v)
            for u, v in ((x / 2, y / 2), (-x / 2, y / 2), (-x / 2, -y / 2), (x / 2, -y / 2))]


@dataclasses.dataclass
class Bar:
    """Turns in the plane: its centre goes straight, or about the pivot."""
    length: float
    width: float
    capsule: bool
    at: tuple
    velocity: tuple
    angle: float
    rate: float
    pivot: tuple = None

    def fastest(self):
        """[m/s] No point of it is faster."""
        arm = self.length / 2 + self.width
        if self.pivot:
            return abs(self.rate) * (arm + math.hypot(self.at[0] - self.pivot[0], self.at[1] - self.pivot[1]))
        return abs(self.rate) * arm + math.hypot(*self.velocity)

    def centre(self, t):
        if not self.pivot:
            return (self.at[0] + t * self.velocity[0], self.at[1] + t * self.velocity[1])
        x, y = self.at[0] - self.pivot[0], self.at[1] - self.pivot[1]
        c, s = math.cos(self.rate * t), math.sin(self.rate * t)
        return (self.pivot[0] + c * x - s * y, self.pivot[1] + s * x + c * y)

    def distance(self, t, wall):
        at, angle = self.centre(t), self.angle + self.rate * t
        if not self.capsule:
            return outline_distance(rectangle(self.length, self.width, at, angle), wall)
        x, y = math.cos(angle) * self.length / 2, math.sin(angle) * self.length / 2
        return outline_distance([(at[0] + x, at[1] + y), (at[0] - x, at[1] - y)], wall) - self.width / 2

    def meets(self, wall, end):
        """(time, speed of approach) of the first touch, or None."""
        t, bound = 0.0, self.fastest()
        while t < end:
            gap = self.distance(t, wall)
            if gap < 1e-12 * self.length:
                before = t - 1e-6 * self.length / bound
                return t, self.distance(before, wall) / (t - before)
            pace = bound
            if gap < 1e-6 * self.length:  # smooth from here on: nine tenths of the way at the speed at hand
                d = 0.5 * gap / bound
                pace = min(bound, max((gap - self.distance(t + d, wall)) / d / 0.9, 0.02 * bound))
            t += gap / pace
        return None

    def nearest(self, wall, end, enough):
        """[m] The least distance up to `end`, or something smaller than `enough`."""
        t, bound, least = 0.0, self.fastest(), math.inf
        while t < end:
            gap = self.distance(t, wall)
            least = min(least, gap)
            if gap < enough:
                return gap
            t += (gap - 0.8 * enough) / bound
        return least


# Families. Each takes a Random and the step, and returns a Case in a frame of its own.


def deepest(a, b, start, count):
    """(share, time): how deep boxes would get if nothing stopped them, as a share of half the thickness, and for how long."""
    speed = norm(minus(a.velocity, b.velocity)) + sum(norm(body.spin) * radius(body.shape) for body in (a, b))
    span, depth = 2 * (radius(a.shape) + radius(b.shape)) / speed, 0.0
    for i in range(1, count):
        t = span * i / count
        now = box_depth(flown(a, start + t), flown(b, start + t))
        depth = max(depth, now)
        if now < 0 < depth:
            break
    return depth / min(half_thickness(a.shape), half_thickness(b.shape)), t


def flown(body, t):
    """Where a body is that goes straight and turns about one axis."""
    attitude = multiply(turned(body.spin, norm(body.spin) * t), body.attitude) if any(body.spin) else body.attitude
    return dataclasses.replace(body, at=add(body.at, times(t, body.velocity)), attitude=attitude)
