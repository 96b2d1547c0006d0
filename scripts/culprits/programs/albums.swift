// As in TN3150: a list of albums that is filled in the main thread, and what a folder without its listing does to it.
import Foundation

@inline(never)
func listAlbums(in folder: String) throws -> [String] {
  let names = try FileManager.default.contentsOfDirectory(atPath: folder)  // culprit
  return names.sorted()
}

@inline(never)
func reloadSidebar(_ folder: String) throws -> Int { try listAlbums(in: folder).count + 1 }

exit(try reloadSidebar(CommandLine.arguments[1]) > 0 ? 0 : 1)
