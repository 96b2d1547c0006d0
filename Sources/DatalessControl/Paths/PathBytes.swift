/// Paths as bytes: names on Linux need not be UTF-8, and two of them may only differ in bytes that are not.
public enum PathBytes {
  public static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// Components between slashes; empty ones and `.` are left out, `..` is kept.
  public static func components(_ path: some Collection<UInt8>) -> [[UInt8]] {
    path.split(separator: slash).filter { !($0.count == 1 && $0.first == dot) }.map { Array($0) }
  }

  public static func isDotDot(_ component: [UInt8]) -> Bool { component == [dot, dot] }

  /// `/` followed by the components; `/` alone when there are none.
  public static func absolute(_ components: [[UInt8]]) -> [UInt8] {
    components.isEmpty ? [slash] : components.reduce(into: []) { $0 += [slash] + $1 }
  }

  /// Makes a path absolute by text alone: `.` and empty components go, `..` takes the component before it.
  ///
  /// - Parameter directory: What a relative path starts from; absolute.
  public static func absolute(_ path: [UInt8], from directory: [UInt8]) -> [UInt8] {
    var result: [[UInt8]] = []
    for component in components(path.first == slash ? path : directory + [slash] + path) {
      if !isDotDot(component) {
        result.append(component)
      } else if !result.isEmpty {
        result.removeLast()
      }
    }
    return absolute(result)
  }

  /// Whether `directory` is `path` or one of the directories above it; both absolute and normalised.
  public static func isPrefix(_ directory: [UInt8], of path: [UInt8]) -> Bool {
    guard path.starts(with: directory) else { return false }
    return directory.count == path.count || directory == [slash] || path[directory.count] == slash
  }

  /// The part of `path` below `directory`, without a leading slash; empty for the directory itself.
  public static func relative(_ path: [UInt8], to directory: [UInt8]) -> [UInt8] {
    let rest = path.dropFirst(directory == [slash] ? 0 : directory.count)
    return Array(rest.drop { $0 == slash })
  }

  /// The last component; empty for the root.
  public static func lastComponent(_ path: some Collection<UInt8>) -> [UInt8] {
    path.split(separator: slash).last.map { Array($0) } ?? []
  }

  /// `directory/name`, or `name` alone when the directory is empty.
  public static func join(_ directory: [UInt8], _ name: [UInt8]) -> [UInt8] {
    directory.isEmpty ? name : (directory.last == slash ? directory + name : directory + [slash] + name)
  }
}
