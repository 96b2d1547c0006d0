/// Rectangles whose areas are as weights: squarified, so that they are as near to squares as can be.
struct Treemap {
  struct Rectangle: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  /// - Parameter weights: Above 0, largest first.
  /// - Returns: As many rectangles, in the same order, which fill `space`.
  static func layout(_ weights: [Double], in space: Rectangle) -> [Rectangle] {
    var result: [Rectangle] = []
    var rest = weights[...]
    var space = space
    var left = weights.reduce(0, +)
    while !rest.isEmpty, left > 0 {
      let scale = space.width * space.height / left
      let side = min(space.width, space.height)
      var row = rest.prefix(1)
      while row.endIndex < rest.endIndex {
        let longer = rest[row.startIndex...row.endIndex]
        guard worst(longer, scale, side: side) <= worst(row, scale, side: side) else { break }
        row = longer
      }
      let sum = row.reduce(0, +)
      place(row, sum, in: &space, left: left, result: &result)
      left -= sum
      rest = rest[row.endIndex...]
    }
    // Weights that are too small to be told from nothing.
    while result.count < weights.count {
      result.append(Rectangle(x: space.x, y: space.y, width: 0, height: 0))
    }
    return result
  }

  /// The worst ratio of sides in a row along `side`.
  private static func worst(_ row: ArraySlice<Double>, _ scale: Double, side: Double) -> Double {
    let sum = row.reduce(0, +) * scale
    guard let largest = row.max(), let smallest = row.min(), sum > 0, smallest > 0, side > 0 else { return .infinity }
    return max(side * side * largest * scale / (sum * sum), sum * sum / (side * side * smallest * scale))
  }

  private static func place(
    _ row: ArraySlice<Double>, _ sum: Double, in space: inout Rectangle, left: Double, result: inout [Rectangle]
  ) {
    let isWide = space.width >= space.height
    let thickness = (isWide ? space.width : space.height) * sum / left
    var offset = 0.0
    for weight in row {
      let length = (isWide ? space.height : space.width) * weight / sum
      result.append(
        isWide
          ? Rectangle(x: space.x, y: space.y + offset, width: thickness, height: length)
          : Rectangle(x: space.x + offset, y: space.y, width: length, height: thickness))
      offset += length
    }
    if isWide {
      space.x += thickness
      space.width -= thickness
    } else {
      space.y += thickness
      space.height -= thickness
    }
  }
}
