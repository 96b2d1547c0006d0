internal import Glibc

/// Files of a process, which are closed with the last one who needs them.
final class OpenedFiles {
  let files: [SymbolOrder.File]
  let descriptors: [Int32]

  init(files: [SymbolOrder.File], descriptors: [Int32]) {
    self.files = files
    self.descriptors = descriptors
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
