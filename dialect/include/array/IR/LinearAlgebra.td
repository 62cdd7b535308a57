// Decompositions and solvers, each a library routine of the same name over LAPACK.
#ifndef ARRAY_IR_LINEARALGEBRA_TD
#define ARRAY_IR_LINEARALGEBRA_TD

include "array/IR/ArrayBase.td"

def Array_MatrixTensor : Array_TensorOf<[F32, F64, Complex<F32>, Complex<F64>],
    "f32, f64, complex<f32> or complex<f64>">;
def Array_RealMatrixTensor : Array_TensorOf<[F32, F64], "f32 or f64">;
def Array_MatrixResult : Array_TensorOf<[I32, F32, F64, Complex<F32>, Complex<F64>],
    "i32, f32, f64, complex<f32> or complex<f64>">;
def Array_I32Tensor : Array_TensorOf<[I32], "i32">;

/// Verifies the shapes by the op's `getShapes()`.
def Array_MatrixShapes : NativeOpTrait<"MatrixShapes"> {
  let cppNamespace = "::mlir::array";
}

/// `shapes` is a C++ expression for a string such as "mm,mn->mn": a word of sizes for each operand, then for each
/// result; equal letters are equal sizes. 'r' is the lesser of m and n, 'l' is n less one (at least 0). A word may open
/// with the kind of its elements: "i:" i32, "R:" real, "C:" complex; without it, the elements are the first operand's.
class Array_MatrixOp<string mnemonic, string shapes> : Array_Op<mnemonic, [Pure, Array_MatrixShapes]> {
  let extraClassDeclaration = [{
    ::llvm::StringRef getShapes() { return }] # shapes # [{; }
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Array_MatrixDoc<string text, string shapes> {
  string description = Array_Doc<text # "\n    All leading dimensions are of a batch.\n", [{
    - C1: the leading dimensions of operands and results are compatible.
    - C2: the last dimensions are of sizes }] # shapes # [{.
    - C3: operands and results have one element type, except pivots, which are i32, and real results, such as norms.
  }]>.description;
}

def Array_CholeskyOp : Array_MatrixOp<"cholesky", "\"nn->nn\""> {
  let summary = "the lower factor L of L Lᴴ";
  let description = Array_MatrixDoc<"Reads the lower triangle. nan if the matrix is not positive definite.",
                                    "`nn -> nn`">.description;
  let arguments = (ins Array_MatrixTensor:$a);
  let results = (outs Array_MatrixTensor:$factor);
}

def Array_TriangularSolveOp
    : Array_MatrixOp<"triangular_solve", "getLeftSide() ? \"mm,mn->mn\" : \"nn,mn->mn\""> {
  let summary = "X of op(A) X = B, or of X op(A) = B";
  let description = Array_MatrixDoc<"Reads one triangle of A, without the diagonal if `unit_diagonal`.",
                                    "`mm, mn -> mn`, or `nn, mn -> mn` when A stands on the right">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$b, BoolAttr:$left_side, BoolAttr:$lower,
                       BoolAttr:$transpose_a, BoolAttr:$conjugate_a, BoolAttr:$unit_diagonal);
  let results = (outs Array_MatrixTensor:$x);
}

def Array_LuOp : Array_MatrixOp<"lu", "\"mn->mn,i:r,i:m\""> {
  let summary = "P A = L U by partial pivoting: both factors, the swaps of rows, the permutation";
  let description = Array_MatrixDoc<"The unit diagonal of L is not stored.",
                                    "`mn -> mn, r, m` with r the lesser of m and n">.description;
  let arguments = (ins Array_MatrixTensor:$a);
  let results = (outs Array_MatrixTensor:$factors, Array_I32Tensor:$pivots, Array_I32Tensor:$permutation);
}

def Array_LuPivotsToPermutationOp : Array_MatrixOp<"lu_pivots_to_permutation", "\"i:k->i:p\""> {
  let summary = "the permutation that results from swaps of rows";
  let description = Array_MatrixDoc<[{
    The result has `permutation_size` elements. If it is `?` (in the generic form and in the list of attributes, the
    minimum of the 64-bit integers), `sizes` gives it.
  }], "`k -> permutation_size`">.description # "    - C4: `sizes` has one operand if `permutation_size` is `?`, else none.\n";
  let arguments = (ins Array_I32Tensor:$pivots, I64Attr:$permutation_size, Variadic<Index>:$sizes);
  let results = (outs Array_I32Tensor:$permutation);
  let assemblyFormat = [{
    $pivots (`sizes` `(` $sizes^ `)`)? attr-dict `:` `(` type($pivots) `)` `->` type($permutation)
  }];
  let hasVerifier = 1;
}

def Array_LinearSolveOp : Array_MatrixOp<"linear_solve", "\"nn,nn,i:n,nm->nm\""> {
  let summary = "X of op(A) X = B from the factors of A";
  let description = Array_MatrixDoc<[{
    The operands are A, its factors and permutation from `lu`, and B; A itself is not read. `transpose_a` is 0 for A, 1
    for its transpose, 2 for its conjugate transpose.
  }], "`nn, nn, n, nm -> nm`">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$factors, Array_I32Tensor:$permutation,
                       Array_MatrixTensor:$b, I64Attr:$transpose_a);
  let results = (outs Array_MatrixTensor:$x);
}

def Array_TridiagonalSolveOp : Array_MatrixOp<"tridiagonal_solve", "\"n,n,n,nm->nm\""> {
  let summary = "X of T X = B for a tridiagonal T";
  let description = Array_MatrixDoc<[{
    The operands are the diagonals below (its first element is not read), in the middle and above (its last is not
    read), and B. nan if T is singular.
  }], "`n, n, n, nm -> nm`">.description;
  let arguments = (ins Array_MatrixTensor:$dl, Array_MatrixTensor:$d, Array_MatrixTensor:$du, Array_MatrixTensor:$b);
  let results = (outs Array_MatrixTensor:$x);
}

def Array_CholeskyUpdateOp : Array_MatrixOp<"cholesky_update", "\"nn,n->nn\""> {
  let summary = "the upper factor of Rᵀ R + w wᵀ";
  let description = Array_MatrixDoc<"Reads the upper triangle of R.", "`nn, n -> nn`">.description;
  let arguments = (ins Array_RealMatrixTensor:$r, Array_RealMatrixTensor:$w);
  let results = (outs Array_RealMatrixTensor:$updated);
}

def Array_QrOp : Array_MatrixOp<"qr", [{getFullMatrices() ? (getPivoting() ? "mn->mm,mn,i:n" : "mn->mm,mn")
                                                          : (getPivoting() ? "mn->mr,rn,i:n" : "mn->mr,rn")}]> {
  let summary = "A = Q R, or A P = Q R with pivoting";
  let description = Array_MatrixDoc<"Only `pivoting` gives the permutation.",
      "`mn -> mm, mn, n` with `full_matrices`, else `mn -> mr, rn, n` with r the lesser of m and n">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$pivoting, BoolAttr:$full_matrices);
  let results = (outs Variadic<Array_MatrixResult>:$factors);
  let hasCanonicalizer = 1;
}

def Array_GeqrfOp : Array_MatrixOp<"geqrf", "\"mn->mn,r\""> {
  let summary = "A = Q R with Q as Householder reflectors below R, and their scalar factors";
  let description = Array_MatrixDoc<"LAPACK's compact form.", "`mn -> mn, r` with r the lesser of m and n">.description;
  let arguments = (ins Array_MatrixTensor:$a);
  let results = (outs Array_MatrixTensor:$reflectors, Array_MatrixTensor:$taus);
}

def Array_Geqp3Op : Array_MatrixOp<"geqp3", "\"mn->mn,r,i:n\""> {
  let summary = "A P = Q R in geqrf's form, and the permutation of columns";
  let description = Array_MatrixDoc<"The permutation counts from 0.",
                                    "`mn -> mn, r, n` with r the lesser of m and n">.description;
  let arguments = (ins Array_MatrixTensor:$a);
  let results = (outs Array_MatrixTensor:$reflectors, Array_MatrixTensor:$taus, Array_I32Tensor:$permutation);
}

def Array_HouseholderProductOp : Array_MatrixOp<"householder_product", "\"mn,k->mn\""> {
  let summary = "the first columns of the product of Householder reflectors";
  let description = Array_MatrixDoc<"LAPACK's orgqr.", "`mn, k -> mn` with `k <= n <= m`">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$taus);
  let results = (outs Array_MatrixTensor:$q);
}

def Array_OrmqrOp : Array_MatrixOp<"ormqr", "getLeft() ? \"mq,k,mn->mn\" : \"nq,k,mn->mn\""> {
  let summary = "op(Q) C or C op(Q), where Q is the product of Householder reflectors";
  let description = Array_MatrixDoc<"op is the conjugate transpose with `transpose`.",
                                    "`mq, k, mn -> mn`, or `nq, k, mn -> mn` when Q stands on the right">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$taus, Array_MatrixTensor:$c, BoolAttr:$left,
                       BoolAttr:$transpose);
  let results = (outs Array_MatrixTensor:$product);
}

def Array_HessenbergOp : Array_MatrixOp<"hessenberg", "\"nn->nn,l\""> {
  let summary = "the Hessenberg form with the Householder reflectors below it, and their scalar factors";
  let description = Array_MatrixDoc<"LAPACK's gehrd.", "`nn -> nn, n - 1`">.description;
  let arguments = (ins Array_MatrixTensor:$a);
  let results = (outs Array_MatrixTensor:$reflectors, Array_MatrixTensor:$taus);
}

def Array_TridiagonalOp : Array_MatrixOp<"tridiagonal", "\"nn->nn,R:n,R:l,l\""> {
  let summary = "the tridiagonal form of a Hermitian matrix with the Householder reflectors beside it";
  let description = Array_MatrixDoc<"Results: that, its diagonal, its off-diagonal, the reflectors' scalar factors.",
                                    "`nn -> nn, n, n - 1, n - 1`">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$lower);
  let results = (outs Array_MatrixTensor:$reflectors, Array_RealMatrixTensor:$d, Array_RealMatrixTensor:$e,
                      Array_MatrixTensor:$taus);
}

def Array_EighOp : Array_MatrixOp<"eigh", "getComputeVectors() ? \"nn->nn,R:n\" : \"nn->R:n\""> {
  let summary = "eigenvectors and eigenvalues, ascending, of a Hermitian matrix";
  let description = Array_MatrixDoc<"Reads one triangle.", "`nn -> nn, n`, or `nn -> n` without vectors">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$lower, BoolAttr:$compute_vectors);
  let results = (outs Variadic<Array_MatrixTensor>:$parts);
}

def Array_EigOp
    : Array_MatrixOp<"eig", [{getComputeLeft() && getComputeRight() ? "nn->C:n,C:nn,C:nn"
                              : getComputeLeft() || getComputeRight() ? "nn->C:n,C:nn" : "nn->C:n"}]> {
  let summary = "eigenvalues, left and right eigenvectors of a matrix, all complex";
  let description = Array_MatrixDoc<"Each kind of vectors is optional.", "`nn -> n, nn, nn`">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$compute_left, BoolAttr:$compute_right);
  let results = (outs Variadic<Array_MatrixTensor>:$parts);
}

def Array_SvdOp : Array_MatrixOp<"svd", [{!getComputeVectors() ? "mn->R:r"
                                          : getFullMatrices() ? "mn->R:r,mm,nn" : "mn->R:r,mr,rn"}]> {
  let summary = "singular values, descending, left and (adjoint) right singular vectors";
  let description = Array_MatrixDoc<"By divide and conquer, or with `by_qr` by QR iterations.",
      "`mn -> r, mm, nn` with `full_matrices`, else `mn -> r, mr, rn`, or `mn -> r` without vectors, with r the lesser "
      "of m and n">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$full_matrices, BoolAttr:$compute_vectors, BoolAttr:$by_qr);
  let results = (outs Variadic<Array_MatrixTensor>:$parts);
}

def Array_SchurOp : Array_MatrixOp<"schur", "getComputeVectors() ? \"nn->nn,nn\" : \"nn->nn\""> {
  let summary = "T and Z of A = Z T Zᴴ";
  let description = Array_MatrixDoc<"For real matrices T has 2x2 blocks on the diagonal.",
                                    "`nn -> nn, nn`, or `nn -> nn` without vectors">.description;
  let arguments = (ins Array_MatrixTensor:$a, BoolAttr:$compute_vectors);
  let results = (outs Variadic<Array_MatrixTensor>:$parts);
}

def Array_SylvesterOp : Array_MatrixOp<"sylvester", "\"mm,nn,mn->mn\""> {
  let summary = "X of A X + X B = C";
  let description = Array_MatrixDoc<"nan if X is not unique.", "`mm, nn, mn -> mn`">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$b, Array_MatrixTensor:$c);
  let results = (outs Array_MatrixTensor:$x);
}

def Array_ExpmOp : Array_MatrixOp<"expm", "\"nn->nn\""> {
  let summary = "the exponential of a matrix";
  let description = Array_MatrixDoc<"nan if it needs more than `max_squarings` squarings.", "`nn -> nn`">.description;
  let arguments = (ins Array_MatrixTensor:$a, I64Attr:$max_squarings);
  let results = (outs Array_MatrixTensor:$exponential);
}

def Array_ExpmFrechetOp : Array_MatrixOp<"expm_frechet", "\"nn,nn->nn\""> {
  let summary = "the derivative of the exponential at a matrix in a direction";
  let description = Array_MatrixDoc<"As `expm`.", "`nn, nn -> nn`">.description;
  let arguments = (ins Array_MatrixTensor:$a, Array_MatrixTensor:$e, I64Attr:$max_squarings);
  let results = (outs Array_MatrixTensor:$derivative);
}

#endif // ARRAY_IR_LINEARALGEBRA_TD
