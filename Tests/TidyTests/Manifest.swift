/// What Package.swift says of its targets, read as text: a test of the package cannot load its description.
struct Manifest {
  /// Names of targets and products, as they are declared, by target.
  let dependencies: [String: Set<String>]

  static let current = Manifest(Repository.current.text(of: "Package.swift") ?? "")

  init(_ text: String) {
    var products: [Substring: String] = [:]
    for match in text.matches(of: #/let (\w+) = Target\.Dependency\.product\(name: "(\w+)"/#) {
      products[match.1] = String(match.2)
    }
    var found: [String: Set<String>] = [:]
    for match in text.matches(of: #/\.(?:target|executableTarget|systemLibrary|testTarget)\(\s*name: "(\w+)"/#) {
      let rest = text[match.range.upperBound...].prefix { $0 != ")" }
      let list = rest.firstMatch(of: #/dependencies: \[([^\]]*)\]/#)?.1 ?? ""
      found[String(match.1)] = Set(
        list.split { ",\n ".contains($0) }.map { word in products[word] ?? String(word.filter { $0 != "\"" }) })
    }
    dependencies = found
  }
}
