"""Writes the files that files.test reads, and checks those that it wrote: `files.py make|check FOLDER`."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

PLAIN = {
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
SMALL = {
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f4E2M1FN": "float4_e2m1fn",
    "i4": "int4",
    "ui4": "uint4",
    "i2": "int2",
}


def elements(name: str) -> np.ndarray:
    """Three elements that the type holds, which differ where it has so many."""
    dtype = np.dtype(getattr(ml_dtypes, name) if name in SMALL.values() else name)
    low = 1 if name == "float8_e8m0fnu" else 0
    return np.array([low, 1, 4 if name == "float8_e8m0fnu" else 1], np.float32).astype(dtype)


TYPES = {mlir: elements(name) for mlir, name in (PLAIN | SMALL).items()}
MATRIX = np.array([[1.0, 2, 3], [4, 5, 6]])


def make(folder: Path) -> None:
    types = ", ".join(f"tensor<3x{mlir}>" for mlir in TYPES)
    names = ", ".join(f"%x{i}" for i in range(len(TYPES)))
    arguments = ", ".join(f"%x{i}: tensor<3x{mlir}>" for i, mlir in enumerate(TYPES))
    (folder / "types.mlir").write_text(
        f"func.func @main({arguments}) -> ({types}) {{\n  return {names} : {types}\n}}\n"
    )
    for i, array in enumerate(TYPES.values()):
        np.save(folder / f"in.{i}.npy", array)
    (folder / "inputs").write_text("\n".join(f"--input={folder}/in.{i}.npy" for i in range(len(TYPES))))
    (folder / "matrix.mlir").write_text(
        "func.func @main(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {\n  return %x : tensor<2x3xf64>\n}\n"
    )
    np.save(folder / "fortran.npy", np.asfortranarray(MATRIX))
    np.save(folder / "big.npy", MATRIX.astype(">f8"))
    for version in (2, 3):
        with (folder / f"version{version}.npy").open("wb") as file:
            np.lib.format.write_array(file, MATRIX, version=(version, 0))
    np.save(folder / "shape.npy", MATRIX.reshape(3, 2))
    np.save(folder / "type.npy", MATRIX.astype(np.int32))
    np.save(folder / "records.npy", np.zeros((2, 3), [("a", "<f8")]))
    whole = (folder / "big.npy").read_bytes()
    (folder / "short.npy").write_bytes(whole[:-8])
    (folder / "header.npy").write_bytes(whole[:60])
    (folder / "future.npy").write_bytes(whole[:6] + b"\x09" + whole[7:])
    (folder / "text.npy").write_text("1 2 3\n4 5 6\n")
    np.savez(folder / "matrix.npz", MATRIX)
    (folder / "matrix.npz").rename(folder / "matrix.npz.npy")


def check(folder: Path) -> None:
    for i, (mlir, array) in enumerate(TYPES.items()):
        path = folder / f"back.{i}.npy"
        assert path.read_bytes()[:6] == b"\x93NUMPY"
        assert len(path.read_bytes()) % 64 == array.nbytes, mlir  # the elements begin at a multiple of 64
        back = np.load(path)
        if mlir in PLAIN:
            assert back.dtype == array.dtype, (mlir, back.dtype)
        np.testing.assert_array_equal(back.view(array.dtype).astype(complex), array.astype(complex), mlir)


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
