"""Eight numbers at a time: the few vector operations that message passing needs, as Numba intrinsics.

The automatic vectoriser prepares for long loops; a message is some twenty numbers long, and most of it would be
handled one number at a time. LLVM lowers these vectors to whatever the machine has. Indices are not checked.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 8
"""Numbers in a vector."""


class Lanes(types.Type):
    """The Numba type of a vector of `LANES` numbers."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


def _pointer(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def _vector_pointer(context, builder, array_type, array, index):
    vector = context.get_value_type(Lanes(array_type.dtype))
    return builder.bitcast(_pointer(context, builder, array_type, array, index), vector.as_pointer())


def _call(builder, name, result, *args, **options):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args, **options)


@intrinsic
def element(typing, array, index):
    """Return array[index] for an index that is not negative; one instruction, where indexing is four."""

    def generate(context, builder, signature, args):
        return builder.load(_pointer(context, builder, signature.args[0], *args))

    return array.dtype(array, types.intp), generate


@intrinsic
def load(typing, array, index):
    """Return the vector that begins at array[index]."""

    def generate(context, builder, signature, args):
        pointer = _vector_pointer(context, builder, signature.args[0], *args)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, types.intp), generate


@intrinsic
def store(typing, array, index, lanes):
    """Write a vector to array[index] and what follows it."""

    def generate(context, builder, signature, args):
        pointer = _vector_pointer(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def fill(typing, number):
    """Return the vector that holds `number` in every lane."""

    def generate(context, builder, signature, args):
        nothing = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        one = builder.insert_element(nothing, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    return Lanes(number)(number), generate


@intrinsic
def fma(typing, left, right, addend):
    """Return left * right + addend, lane by lane, rounded once."""

    def generate(context, builder, signature, args):
        return _call(builder, f"llvm.fma.v{LANES}f{left.dtype.bitwidth}", args[0].type, *args)

    return left(left, left, left), generate


@intrinsic
def multiply(typing, left, right):
    """Return left * right, lane by lane."""

    def generate(context, builder, signature, args):
        return builder.fmul(*args)

    return left(left, left), generate


@intrinsic
def larger(typing, left, right):
    """Return the larger of two numbers, lane by lane."""

    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return left(left, left), generate


@intrinsic
def total(typing, lanes):
    """Return the sum of a vector's lanes."""

    def generate(context, builder, signature, args):
        zero = ir.Constant(args[0].type.element, -0.0)
        name = f"llvm.vector.reduce.fadd.v{LANES}f{lanes.dtype.bitwidth}"
        return _call(builder, name, args[0].type.element, zero, args[0], fastmath=("reassoc",))

    return lanes.dtype(lanes), generate


@intrinsic
def highest(typing, lanes):
    """Return the largest of a vector's lanes."""

    def generate(context, builder, signature, args):
        name = f"llvm.vector.reduce.fmax.v{LANES}f{lanes.dtype.bitwidth}"
        return _call(builder, name, args[0].type.element, args[0], fastmath=("nnan",))

    return lanes.dtype(lanes), generate


@intrinsic
def prefetch(typing, array, index):
    """Ask for the cache line of array[index], which will be needed soon."""

    def generate(context, builder, signature, args):
        pointer = builder.bitcast(_pointer(context, builder, signature.args[0], *args), cgutils.voidptr_t)
        read, keep, data = (ir.Constant(ir.IntType(32), number) for number in (0, 3, 1))
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), pointer, read, keep, data)
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
