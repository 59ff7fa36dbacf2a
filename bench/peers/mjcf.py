"""A scene as MJCF, the only way into MuJoCo 2: every body free, joints as equality constraints."""


def numbers(values):
    return " ".join("%.17g" % v for v in values)


def geom(body):
    shape = body["shape"]
    size = {"plane": lambda: [0, 0, 1], "box": lambda: shape["half"], "sphere": lambda: [shape["radius"]],
            "capsule": lambda: [shape["radius"], shape["half_length"]]}[shape["type"]]()
    off = "" if body.get("collide", True) else ' contype="0" conaffinity="0"'
    return f'<geom type="{shape["type"]}" size="{numbers(size)}"{off}/>'


def connect(joint):
    """The anchor is given in the frame of body1, which for a joint to the world is the moving one."""
    if joint["a"] < 0:
        return f'<connect body1="b{joint["b"]}" anchor="{numbers(joint["pb"])}"/>'
    return f'<connect body1="b{joint["a"]}" body2="b{joint["b"]}" anchor="{numbers(joint["pa"])}"/>'


def mjcf(scene, substeps):
    """Newton's method with pyramids, the defaults; CG for many bodies, since the Hessian of 2.x is dense."""
    count = len(scene["bodies"])
    contacts = 15 * count if count < 500 else 4 * count  # memory grows with rows times coordinates
    lines = ['<mujoco><compiler angle="radian" inertiafromgeom="false"/>',
             f'<option timestep="{scene["h"] / substeps:.17g}" gravity="{numbers(scene["gravity"])}"'
             f' solver="{"CG" if count > 500 else "Newton"}"/>',
             f'<size njmax="{max(2000, 4 * contacts)}" nconmax="{max(500, contacts)}"/>',
             f'<default><geom friction="{scene["mu"]:g} 0.005 0.0001" condim="3"/></default><worldbody>']
    for i, body in enumerate(scene["bodies"]):
        lines.append(f'<body name="b{i}" pos="{numbers(body["pos"])}" quat="{numbers(body["quat"])}">')
        if body["mass"] > 0:
            lines.append(f'<freejoint/><inertial pos="0 0 0" mass="{body["mass"]:.17g}" diaginertia="{numbers(body["inertia"])}"/>')
        lines.append(geom(body) + "</body>")
    lines.append("</worldbody><equality>")
    lines += [connect(joint) for joint in scene["joints"]]
    return "\n".join(lines + ["</equality></mujoco>"])
