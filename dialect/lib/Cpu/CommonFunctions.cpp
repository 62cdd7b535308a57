// The list of the shared functions that the build compiles.
#include "array/Cpu/CommonFunctions.h"
#include "Cpu/Loops/TransposeFunction.h"
#include "Cpu/Matmul/Matmul.h"

namespace mlir::array {

/// The functions for factors of one kind, by pairs that are multiplied by whole registers.
static void addPairs(ModuleOp module, Type sums, GemmNarrow factor, unsigned vectorBits) {
  int64_t lanes = vectorBits / sums.getIntOrFloatBitWidth();
  for (int64_t columns : {lanes, 2 * lanes}) {
    GemmTile tile = chooseGemmTile(sums, vectorBits, columns);
    getGemmTiles(module, sums, tile, /*hasPairs=*/true);
    for (bool unitStride : {true, false}) {
      factor.unitStride = unitStride;
      getPairLeft(module, factor, tile);
      getPairRight(module, factor, tile);
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
    SmallVector<GemmTile> tiles;
    for (int64_t columns = 1; columns <= 64; columns *= 2)
      tiles.push_back(chooseGemmTile(element, vectorBits, columns));
    llvm::append_range(tiles, wideTiles(tiles.back(), vectorBits));
    for (const GemmTile &tile : tiles) {
      for (int64_t rows = leastTileRows(tile); rows <= tile.rows; ++rows) {
        GemmTile fitted{rows, tile.vectors, tile.lanes};
        getGemmTiles(module, element, fitted);
        getGemmTilesOnce(module, element, fitted);
        if (tile.vectors > 1) {
          getGemmTilesAhead(module, element, fitted);
          getGemmTilesPacked(module, element, fitted);
          getGemmPack(module, element, fitted.ofLeftPanels(), GemmPacking::Rows);
        }
      }
      for (GemmPacking packing : {GemmPacking::Rows, GemmPacking::Columns, GemmPacking::Strided})
        getGemmPack(module, element, tile, packing);
    }
    for (int64_t rows = 1; rows <= kMostStreamedRows; ++rows)
      getGemmStream(module, element, streamingTile(element, vectorBits, rows));
  }
  if (vectorBits >= 256)
    for (bool isSigned : {true, false})
      addPairs(module, b.getI32Type(), {b.getI8Type(), isSigned, /*unitStride=*/true}, vectorBits);
  // Machines of this level have the instruction or not; who has not does not call them.
  if (vectorBits == 512)
    addPairs(module, b.getF32Type(), {b.getBF16Type(), /*isSigned=*/false, /*unitStride=*/true}, vectorBits);
}

} // namespace mlir::array
