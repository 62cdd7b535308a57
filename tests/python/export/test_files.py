"""The contents of exported files, and refused files: damage, later versions, unknown names."""

import json

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _compiler, export
from pycompiler._compiler import ir
from pycompiler.export import container
from pycompiler.tree_util import Partial, register_pytree_node, register_pytree_node_class

X = np.float32([1, 2, 3])


@pytest.fixture(scope="module")
def blob():
    return export.export(pc.jit(lambda x: {"y": x * pnp.float32([2, 3, 4])}))(X).serialize()


def test_the_description_says_the_signature(blob):
    description, sections, _ = container.opened(blob)
    assert description["dialect"] == container.DIALECT == _compiler.dialect_version
    (function,) = description["functions"]
    assert function["in_avals"] == [{"shape": ["3"], "dtype": "float32", "weak_type": False}]
    assert function["out_tree"] == {"dict": ["*"], "keys": ["y"]}
    assert function["platforms"] == ["cpu"]
    assert "mul" in function["operations"]
    offset, size = function["module"]
    assert bytes(sections[offset : offset + 4]) == b"ML\xefR"
    assert offset % container.ALIGNMENT == 0
    text = export.deserialize(blob).mlir_module()
    assert "func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>)" in text
    assert export.deserialize(blob).mlir_module_serialized == bytes(sections[offset : offset + size])


def test_the_same_function_gives_the_same_bytes(blob):
    assert export.deserialize(blob).serialize() == blob


def test_every_damaged_byte_is_noticed(blob):
    for place in range(0, len(blob), 7):
        damaged = bytearray(blob)
        damaged[place] ^= 0x40
        with pytest.raises(ValueError, match=r"deserialize: (these \d+ bytes are no|the exported function)"):
            export.deserialize(damaged)


@pytest.mark.parametrize("size", [0, 5, 20, 87, 300, -1])
def test_a_file_that_is_cut_off(blob, size):
    with pytest.raises(ValueError, match=r"not an exported function|cut off"):
        export.deserialize(blob[:size])


def test_a_file_with_something_behind_it(blob):
    with pytest.raises(ValueError, match=r"bytes of \d+: it was cut off, or something was added"):
        export.deserialize(blob + b"\n")


def resealed(blob, change):
    """The file with another description, and correct checksums."""
    description, sections, _ = container.opened(blob)
    change(description)
    writer = container.Writer()
    writer.add(bytes(sections))
    return writer.seal(description)


def test_a_later_version_of_the_format(blob):
    later = bytearray(blob)
    later[8] = container.FORMAT + 1
    later[24:56] = b"9.1.2".ljust(32, b"\0")
    with pytest.raises(
        ValueError, match=rf"written by pycompiler 9\.1\.2 in version 2 .* this is pycompiler {pc.__version__}"
    ):
        export.deserialize(later)


def test_later_versions_of_what_is_inside(blob):
    with pytest.raises(ValueError, match=r"version 7 of the array dialect.* reads versions up to 1"):
        export.deserialize(resealed(blob, lambda d: d.update(dialect=7)))
    with pytest.raises(ValueError, match="version 9 of the calling convention"):
        export.deserialize(resealed(blob, lambda d: d["functions"][0].update(calling_convention=9)))
    with pytest.raises(
        ValueError, match=r"of the size '2\*b if c else 1', and this version reads numbers and expressions"
    ):
        export.deserialize(resealed(blob, lambda d: d["functions"][0]["in_avals"][0].update(shape=["2*b if c else 1"])))
    # New entries, which may stay unread.
    assert export.deserialize(resealed(blob, lambda d: d.update(comment="hello"))).call(X)["y"].shape == (3,)


def test_bytes_that_are_something_else():
    with pytest.raises(ValueError, match=r"they begin with b'\{\"a\": 1\}'"):
        export.deserialize(json.dumps({"a": 1}).encode())


# Containers.


@register_pytree_node_class
class Pair:
    def __init__(self, first, second, label):
        self.first, self.second, self.label = first, second, label

    def tree_flatten(self):
        return (self.first, self.second), self.label

    @classmethod
    def tree_unflatten(cls, label, children):
        return cls(*children, label)


def test_a_class_that_is_registered():
    f = export.export(lambda p: Pair(p.second, p.first, "swapped"))
    with pytest.raises(ValueError, match="hold a Pair, whose name in files is not known"):
        f(Pair(X, X + 1, "given")).serialize()
    assert (
        export.register_pytree_node_serialization(
            Pair, serialized_name="tests.Pair", serialize_auxdata=str.encode, deserialize_auxdata=bytes.decode
        )
        is Pair
    )
    out = export.deserialize(f(Pair(X, X + 1, "given")).serialize()).call(Pair(X, X + 1, "given"))
    assert (type(out), out.label) == (Pair, "swapped")
    np.testing.assert_array_equal(out.first, X + 1)
    with pytest.raises(TypeError, match="exported for arguments"):
        f(Pair(X, X + 1, "given")).call(Pair(X, X + 1, "other"))
    with pytest.raises(ValueError, match=r"Pair is registered already, as 'tests\.Pair'"):
        export.register_pytree_node_serialization(
            Pair, serialized_name="again", serialize_auxdata=str.encode, deserialize_auxdata=bytes.decode
        )
    with pytest.raises(ValueError, match=r"the name 'tests\.Pair' is taken by Pair"):
        export.register_pytree_node_serialization(
            Partial, serialized_name="tests.Pair", serialize_auxdata=repr, deserialize_auxdata=repr
        )


class Box:
    def __init__(self, x):
        assert x is not None
        self.x = x


def test_from_children_makes_the_instances():
    register_pytree_node(Box, lambda box: ((box.x,), None), lambda _, children: Box(*children))
    made = []

    def from_children(data, children):
        made.append(data)
        return Box(*children)

    export.register_pytree_node_serialization(
        Box,
        serialized_name="tests.Box",
        serialize_auxdata=lambda _: b"nothing",
        deserialize_auxdata=bytes.decode,
        from_children=from_children,
    )
    out = export.deserialize(export.export(lambda x: Box(x))(X).serialize()).call(X)
    assert (type(out), made) == (Box, ["nothing"])


def test_what_can_not_be_registered():
    with pytest.raises(ValueError, match="object is not a container"):
        export.register_pytree_node_serialization(
            object, serialized_name="object", serialize_auxdata=repr, deserialize_auxdata=repr
        )
    with pytest.raises(ValueError, match="list is not a namedtuple"):
        export.register_namedtuple_serialization(list, serialized_name="list")


def test_keys_of_dicts():
    with pytest.raises(ValueError, match=r"has the key 1\.5 of type float"):
        export.export(lambda d: d[1.5])({1.5: X}).serialize()


def test_a_name_that_is_not_registered_where_it_is_loaded(blob):
    tree = {"node": ["*"], "name": "elsewhere.Thing", "data": ""}
    with pytest.raises(ValueError, match=r"by the name 'elsewhere\.Thing', which is not registered here"):
        export.deserialize(resealed(blob, lambda d: d["functions"][0].update(out_tree=tree)))


# Functions that cannot be exported.


def test_callbacks_are_refused():
    def printing(x):
        pc.debug.print("{}", x)
        return x

    with pytest.raises(ValueError, match=r"(?s)test_files.py.*printing calls a function of this process"):
        export.export(printing)(X)


def test_values_put_on_a_device_are_refused():
    with pytest.raises(ValueError, match="puts values on"):
        export.export(lambda x: pc.device_put(x, pc.devices()[0]) + 1)(X)


def test_shardings_of_one_device_are_left_out():
    place = pc.sharding.SingleDeviceSharding(pc.devices()[0])
    function = pc.jit(lambda x: x * 2, in_shardings=place, out_shardings=place)
    exported = export.deserialize(export.export(function)(X).serialize())
    np.testing.assert_array_equal(exported.call(X), function(X))


def test_named_axes_that_are_mapped_outside_are_refused():
    def summed(y):
        return export.export(lambda x: pc.lax.psum(x, "i"))(X).call(X) + y

    with pytest.raises(ValueError, match="over the named axes i, which are mapped outside of it"):
        pc.vmap(summed, axis_name="i")(X)


def test_tracers_are_refused():
    with pytest.raises(ValueError, match="closes over a value that is being traced"):
        pc.jit(lambda y: export.export(lambda x: x + y)(X).call(X))(X)


def test_disabled_checks():
    """The platform is not checked, in a file neither; other checks of JAX's have no effect."""
    check = export.DisabledSafetyCheck
    disabled = [check.platform(), check.custom_call("mine")]
    made = export.export(lambda x: x * x, platforms=["gpu"], disabled_checks=disabled)(X)
    for exported in (made, export.deserialize(made.serialize(vjp_order=1))):
        assert exported.platforms == ("gpu",)
        assert exported.disabled_safety_checks == tuple(disabled)
        np.testing.assert_array_equal(exported.call(X), X * X)
        np.testing.assert_array_equal(pc.grad(lambda x, e=exported: e.call(x).sum())(X), 2 * X)
    assert [each.is_custom_call() for each in disabled] == [None, "mine"]
    assert str(check.platform()) == "platform"
    with pytest.raises(TypeError, match="disabled_checks is a sequence of DisabledSafetyCheck, got 'platform'"):
        export.export(lambda x: x, disabled_checks=["platform"])


def test_platforms(blob):
    assert export.default_export_platform() == pc.default_backend()
    both = export.export(lambda x: x + 1, platforms=("cuda", "cpu"))(X)
    assert both.platforms == ("gpu", "cpu")
    assert "platforms=gpu, cpu" in repr(both)
    with pytest.raises(ValueError, match=r"called on cpu.*\n.*platforms="):
        export.deserialize(export.export(lambda x: x + 1, platforms=["gpu"])(X).serialize()).call(X)
    for wrong in ("cpu", [], ["tpu"]):
        with pytest.raises(ValueError, match="platforms is a sequence of 'cpu', 'gpu', 'cuda'"):
            export.export(lambda x: x, platforms=wrong)


def test_calls_with_other_arguments(blob):
    exported = export.deserialize(blob)
    with pytest.raises(TypeError, match="exported for arguments"):
        exported.call(X, X)
    with pytest.raises(ValueError, match=r"exported for f32\[3\] as args\[0\], called with f32\[2\]"):
        exported.call(X[:2])
    named = export.export(lambda *, k: k)(k=X)
    with pytest.raises(ValueError, match=r"as kwargs\['k'\], called with i32\[\]"):
        named.call(k=1)


def test_derivatives_that_were_not_written(blob):
    exported = export.deserialize(blob)
    assert not exported.has_vjp()
    for ask in (exported.vjp, lambda: pc.grad(lambda x: exported.call(x)["y"].sum())(X)):
        with pytest.raises(
            ValueError, match=r"holds no derivative.\nWhat to do: serialize the function .*vjp_order=1 for grad"
        ):
            ask()
    with pytest.raises(ValueError, match="vjp_order is -1"):
        exported.serialize(vjp_order=-1)
    versions = export.minimum_supported_calling_convention_version, export.maximum_supported_calling_convention_version
    assert versions[0] <= exported.calling_convention_version <= versions[1]


# Wrong contents with a correct checksum.


def places(value, path=()):
    """All places in a JSON value."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        yield from places(child, (*path, key))


OTHERS = [None, True, -1, 3, 2**63, 10**400, 1.5, "", "*", "abc", "\ud800", [], ["*"], [0, 2**62], {}, {"tuple": ["*"]}]


def changed(description, path, other):
    """The description with another value at a place; without the place if `other` is `places`."""
    whole = json.loads(json.dumps({"d": description}))
    at, holder = ("d", *path), whole
    for key in at[:-1]:
        holder = holder[key]
    if other is places:
        del holder[at[-1]]
    else:
        holder[at[-1]] = other
    return whole.get("d", {})


@pytest.fixture(scope="module")
def with_everything():
    """Containers, a derivative, constants, symbols, a key of random numbers."""
    n = pc.Dim("n", max=64, multiple_of=2)
    key = pc.random.key(3)

    def f(a, *, b):
        return {"y": (a["x"] * pnp.float32([2, 3, 4]) + b).sum(0), "z": (pc.random.normal(key, (3,)), None)}

    exported = export.export(f)({"x": pc.ShapeDtypeStruct((n, 3), pnp.float32)}, b=pc.ShapeDtypeStruct((), pnp.float32))
    return exported.serialize(), export.export(lambda a, b: [a * b])(X, X).serialize(vjp_order=1)


@pytest.mark.parametrize("which", [0, 1])
def test_a_description_that_lies_is_one_kind_of_error(with_everything, which):
    blob = with_everything[which]
    description, sections, _ = container.opened(blob)
    writer = container.Writer()
    writer.add(bytes(sections))
    refused = 0
    for path in places(description):
        for other in (places, *OTHERS):
            written = json.dumps(changed(description, path, other), sort_keys=True).encode()
            head = container._HEAD.pack(
                container.MAGIC, container.FORMAT, len(written), writer._size, container.__version__.encode()
            )
            checksum = container._checksum(head, written, writer._parts)
            try:
                loaded = export.deserialize(b"".join((head, checksum, written, *writer._parts)))
            except export.DeserializationError as error:
                refused += str(error).startswith("deserialize: ")
            else:  # the change is valid, or the entry is not read
                assert repr(loaded).startswith("Exported(")
                assert loaded.serialize is not None
    assert refused > 500


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (
            lambda d: d["functions"][0]["in_avals"][0].update(shape=[3]),
            r"the in_avals of function 0 .*TypeError: a size",
        ),
        (lambda d: d["functions"][0].pop("out_tree"), "the out_tree of function 0 of the description: KeyError"),
        (lambda d: d["functions"][0].update(in_tree={"tuple": []}), "the in_tree of function 0 .* 0 arrays, and"),
        (lambda d: d["functions"][0].update(module=[0, 1 << 40]), "the module of function 0 .*not a place among"),
        (lambda d: d["functions"][0].update(module=[64, 4]), "the module of function 0 .*expected MLIR's bytecode"),
        (lambda d: d["functions"][0]["consts"][0].update(shape=["4"]), "the constants of function 0"),
        (lambda d: d["functions"][0].update(platforms=["tpu"]), "function 0 .*platforms .'tpu'"),
        (lambda d: d.update(functions=[]), "the description: .*no functions"),
        (lambda d: d.update(dialect="1"), "the description: TypeError: dialect is '1', expected int"),
        (
            lambda d: d["functions"][0]["in_avals"][0].update(shape=["2**9**9**9"]),
            "the in_avals .* the power 387420489 in a size",
        ),
        (lambda d: d["functions"][0]["in_avals"][0].update(shape=["-" * 5000 + "1"]), "the in_avals of function 0"),
    ],
)
def test_damage_names_its_part(blob, change, part):
    with pytest.raises(export.DeserializationError, match=rf"\(written by pycompiler .*\) is damaged: {part}"):
        export.deserialize(resealed(blob, change))


def test_a_module_of_another_signature(blob):
    lying = resealed(blob, lambda d: d["functions"][0]["out_avals"][0].update(shape=["300"]))
    with pytest.raises(
        ValueError, match=r"<lambda>: its module gives \(tensor<3xf32>\), and the file says \(f32\[300\]\)"
    ):
        export.deserialize(lying).call(X)


# A damaged module with a correct checksum.

DOUBLED = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = array.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""


def with_module(text, damage=(), operations=None):
    """An exported function of one f32[3], whose module has other bytes at the given places."""
    description, sections, _ = container.opened(export.export(lambda x: x + x)(X).serialize())
    data = bytearray(ir.Module.parse(text, ir.Context()).operation.write_bytecode())
    for place, byte in damage:
        data[place] = byte
    writer = container.Writer()
    writer.add(bytes(sections))
    description["functions"][0]["module"] = writer.add(bytes(data))
    if operations is not None:
        description["functions"][0]["operations"] = operations
    return writer.seal(description)


@pytest.mark.parametrize("place", [18, 25])
def test_bytecode_that_ends_its_reader_is_damage(place):
    loaded = export.deserialize(with_module(DOUBLED, [(place, 0)]))
    asks = [lambda: loaded.call(X), lambda: pc.jit(loaded.call)(X), loaded.mlir_module]
    asks.append(lambda: export.to_shared_object(loaded, "never_written.so"))
    for ask in asks:
        with pytest.raises(
            export.DeserializationError, match=r"is damaged: the module of function 0 .*can't parse the m"
        ):
            ask()


def test_a_module_is_read_once():
    loaded = export.deserialize(with_module(DOUBLED))
    np.testing.assert_array_equal(loaded.call(X), X + X)
    read = loaded._code.readable
    assert "array.add" in loaded.mlir_module()
    assert loaded._code.readable is read
    # The process does not read its own modules again.
    assert export.export(lambda x: x * 3)(X)._code.readable is not None


@pytest.mark.parametrize(
    ("text", "operations", "message"),
    [
        (DOUBLED.replace("3xf32", "4xf32"), None, r"its module takes \(tensor<4xf32>\), and the file says"),
        (DOUBLED.replace("@main", "@other"), None, "no function 'main'"),
        (DOUBLED.replace("add", "mul"), ["return"], "its module holds func, mul, which the file does not list"),
        (DOUBLED.replace("return", "%m = memref.alloc() : memref<4xf32>\n  return"), ["add", "alloc", "func", "return"],
         r"memref\.alloc.* can't be in a module from a file"),
        (DOUBLED.replace("return", "array.host_call slot = 7 effectful (%x) : (tensor<3xf32>) -> ()\n  return"),
         ["add", "func", "host_call", "return"], "calls functions of the process that wrote it"),
    ],
)  # fmt: skip
def test_a_module_that_is_not_what_its_file_says_is_damage(text, operations, message):
    loaded = export.deserialize(with_module(text, operations=operations))
    with pytest.raises(export.DeserializationError, match=rf"(?s)the module of function 0 .*{message}"):
        loaded.call(X)
