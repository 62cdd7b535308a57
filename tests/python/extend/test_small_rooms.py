"""The small modules of `extend`: places, platforms, the random generator, and what is left of `core`."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.extend import backend, core, random
from pycompiler.extend import linear_util as lu
from pycompiler.extend import source_info_util as places
from pycompiler.interpreters import ad, batching


def stack_of(f):
    return str(pc.make_jaxpr(f)(1.0).eqns[-1].source_info.name_stack)


def test_names_around_equations():
    def f(x):
        with places.extend_name_stack("outer") as stack:
            assert stack == places.current_name_stack()
            x = pnp.sin(x)
            with places.transform_name_stack("jvp"):
                return pnp.sin(x)

    assert stack_of(f) == "jvp(outer)"

    def g(x):
        with pc.named_scope("a"), places.reset_name_stack():
            assert len(places.current_name_stack()) == 0
            with places.set_name_stack(places.new_name_stack("b") + places.NameStack(("c",))):
                return pnp.sin(x)

    assert stack_of(g) == "b/c"
    assert repr(places.new_name_stack("b").extend("c")) == "NameStack(('b', 'c'))"


def test_places_are_kept_when_a_graph_is_traced_again():
    (eqn,) = pc.make_jaxpr(lambda x: pnp.sin(x))(1.0).eqns  # the line
    info = eqn.source_info.replace(name_stack=places.new_name_stack("again"))

    def again(x):
        with places.user_context(info.traceback, name_stack=info.name_stack):
            assert places.summarize(places.current()) == places.summarize(info)
            return pnp.cos(x)

    (eqn,) = pc.make_jaxpr(again)(1.0).eqns
    assert places.summarize(eqn.source_info) == places.summarize(info)
    assert str(eqn.source_info.name_stack) == "again"
    assert isinstance(info, places.SourceInfo)


def test_places_are_not_in_excluded_files(tmp_path):
    library = tmp_path / "library.py"
    library.write_text("def apply(f, x):\n    return f(x)\n\ndef sine(pnp, x):\n    return pnp.sin(x)\n")
    namespace = {}
    exec(compile(library.read_text(), str(library), "exec"), namespace)

    def place():
        (eqn,) = pc.make_jaxpr(lambda x: namespace["sine"](pnp, x))(1.0).eqns
        return places.summarize(eqn.source_info)

    assert "library.py" in place()
    places.register_exclusion(str(tmp_path))
    assert "test_small_rooms.py" in place()


def test_platforms():
    cpu = backend.get_backend("cpu")
    assert (cpu.platform, cpu.process_index()) == ("cpu", 0)
    assert cpu.devices() == cpu.local_devices() == pc.devices("cpu")
    assert cpu.device_count() == cpu.local_device_count() == len(pc.devices("cpu"))
    assert cpu.platform_version.startswith("pycompiler")
    assert "cpu" in backend.backends()
    assert backend.get_backend().platform == pc.default_backend()
    assert backend.get_default_device() in pc.devices()
    with pytest.raises(RuntimeError, match="abacus"):
        backend.get_backend("abacus")


@pytest.mark.parametrize("shape", [(4,), (5,), (1,), (3, 3)])
def test_the_generator(shape):
    # The known answers of the cipher for a key of zeros: its first pair, for the counters 0 and 0.
    zero = np.uint32(0)
    assert [hex(x) for x in np.asarray(random.threefry_2x32((zero, zero), np.zeros(2, np.uint32)))] == [
        "0x6b200159",
        "0x99ba4efe",
    ]
    count = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
    out = random.threefry_2x32((np.uint32(1), np.uint32(2)), count)
    assert out.shape == shape
    assert len(set(np.asarray(out).ravel())) == out.size
    with pytest.raises(TypeError, match="arrays of uint32, got int32"):
        random.threefry_2x32((1, 2), count)


def test_what_is_left_of_core():
    assert core.TraceTag() == core.TraceTag()
    assert {pc.Array, np.ndarray, np.float32} <= core.array_types
    assert core.call_impl(lu.wrap_init(lambda x: [x + 1]), 2, name="f") == [3]
    assert isinstance(core.primitives.call_p, core.CallPrimitive)
    assert core.Effects is type(core.no_effects) or isinstance(core.no_effects, frozenset)
    assert issubclass(core.InconclusiveDimensionOperation, ValueError)
    info = core.DebugInfo("jit", "f at file.py:1", ("x",), None)
    assert info.func_name == "f"
    assert info.safe_arg_names(1) == ("x",)
    with pytest.raises(AssertionError, match="2 names are expected"):
        info.safe_arg_names(2)
    assert (info.with_unknown_names().arg_names, info.safe_result_paths(1)) == (None, ("",))


def test_moved_and_repeated_axes():
    x = pnp.ones((2, 3))
    assert batching.moveaxis(x, -1, 0).shape == (3, 2)
    assert batching.broadcast(x, 4, 1).shape == (2, 4, 3)
    assert batching.bdim_at_front(x, batching.not_mapped, 5).shape == (5, 2, 3)
    assert batching.bdim_at_front(x, 1, 3).shape == (3, 2)
    with pytest.raises(NotImplementedError, match="axis 'x' of a mesh"):
        batching.broadcast(x, 4, 0, "x")
    assert ad.zeros_like_aval(pc.typeof(x)).shape == (2, 3)
    assert ad.add_jaxvals_p.bind(1, 2) == 3
    seen = []
    pc.jvp(lambda x: seen.append(isinstance(x, ad.JVPTracer)) or x, (1.0,), (1.0,))
    assert seen == [True]
