// The list of the shared functions that the build compiles.
#include "array/Cpu/CommonFunctions.h"
#include "Cpu/Loops/TransposeFunction.h"
#include "Cpu/Matmul/Matmul.h"

namespace mlir::array {

/// The functions for factors of one kind, whose pairs are multiplied in whole registers.
static void addDot2Functions(ModuleOp module, Type sums, Dot2Factor factor, unsigned vectorBits) {
  int64_t lanes = vectorBits / sums.getIntOrFloatBitWidth();
  for (int64_t columns : {lanes, 2 * lanes}) {
    MatmulTile tile = chooseMatmulTile(sums, vectorBits, columns);
    getMatmulTiles(module, sums, tile, /*isDot2=*/true);
    for (bool unitStride : {true, false}) {
      factor.unitStride = unitStride;
      getDot2Left(module, factor, tile);
      getDot2Right(module, factor, tile);
    }
  }
}

void addCommonFunctions(ModuleOp module, unsigned vectorBits) {
  Builder b(module.getContext());
  for (Type element :
       {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getI8Type()), Type(b.getI32Type()), Type(b.getI64Type())})
    getTranspose(module, element);
  for (Type element : {Type(b.getF32Type()), Type(b.getF64Type())}) {
    // The tiles for results of 1, 2, 4, ... columns.
    SmallVector<MatmulTile> tiles;
    for (int64_t columns = 1; columns <= 64; columns *= 2)
      tiles.push_back(chooseMatmulTile(element, vectorBits, columns));
    llvm::append_range(tiles, wideTiles(tiles.back(), vectorBits));
    for (const MatmulTile &tile : tiles) {
      for (int64_t rows = leastTileRows(tile); rows <= tile.rows; ++rows) {
        MatmulTile fitted{rows, tile.vectors, tile.lanes};
        getMatmulTiles(module, element, fitted);
        getMatmulTilesOnce(module, element, fitted);
        getMatmulTilesTurned(module, element, fitted);
        if (tile.vectors > 1) {
          getMatmulTilesAhead(module, element, fitted);
          getMatmulTilesPacked(module, element, fitted);
          getMatmulPack(module, element, fitted.ofLeftPanels(), MatmulPacking::Rows);
        }
      }
      for (MatmulPacking packing : {MatmulPacking::Rows, MatmulPacking::Columns, MatmulPacking::Strided})
        getMatmulPack(module, element, tile, packing);
    }
    for (int64_t rows = 1; rows <= kMostStreamedRows; ++rows)
      getMatmulStream(module, element, streamingTile(element, vectorBits, rows));
  }
  if (vectorBits >= 256)
    for (bool isSigned : {true, false})
      addDot2Functions(module, b.getI32Type(), {b.getI8Type(), isSigned, /*unitStride=*/true}, vectorBits);
  // Machines of this level may lack the instruction; code for these does not call the functions.
  if (vectorBits == 512)
    addDot2Functions(module, b.getF32Type(), {b.getBF16Type(), /*isSigned=*/false, /*unitStride=*/true}, vectorBits);
}

} // namespace mlir::array
