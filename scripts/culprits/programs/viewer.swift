import Glibc

@inline(never)
func loadThumbnail(_ path: String) -> UInt8 {
  let file = open(path, O_RDONLY)
  var byte: UInt8 = 0
  let count = read(file, &byte, 1)  // culprit
  return count == 1 ? byte : 0
}

@inline(never)
func draw(_ path: String) -> UInt8 { loadThumbnail(path) &+ 1 }

exit(draw(CommandLine.arguments[1]) == 0 ? 1 : 0)
