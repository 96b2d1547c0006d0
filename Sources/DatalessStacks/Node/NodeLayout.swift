/// Where V8 keeps what the names of functions are read from, by the constants that node exports (S9).
///
/// Two things they do not tell: how the fields of a ScopeInfo follow each other, which is of one version of V8. Others
/// are not read: a wrong function is worse than none.
public struct NodeLayout: Sendable, Equatable {
  enum Field: String, CaseIterable {
    case shared = "v8dbg_class_JSFunction__shared__SharedFunctionInfo"
    case scopeInfo = "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object"
    case script = "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject"
    case scriptName = "v8dbg_class_Script__name__Object"
    case scriptSource = "v8dbg_class_Script__source__Object"
    case instanceType = "v8dbg_class_Map__instance_type__uint16_t"
    case length = "v8dbg_class_String__length__int32_t"
    case oneByteCharacters = "v8dbg_class_SeqOneByteString__chars__char"
    case twoByteCharacters = "v8dbg_class_SeqTwoByteString__chars__char"
    case first = "v8dbg_class_ConsString__first__String"
    case second = "v8dbg_class_ConsString__second__String"
    case parent = "v8dbg_class_SlicedString__parent__String"
    case offset = "v8dbg_class_SlicedString__offset__SMI"
    case actual = "v8dbg_class_ThinString__actual__String"
    case resource = "v8dbg_class_ExternalString__resource__Object"
    case sharedType = "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"
    case scriptType = "v8dbg_type_Script__SCRIPT_TYPE"
    case scopeInfoType = "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE"
    case firstNonString = "v8dbg_FirstNonstringType"
    case representationMask = "v8dbg_StringRepresentationMask"
    case oneByteTag = "v8dbg_OneByteStringTag"
    case consTag = "v8dbg_ConsStringTag"
    case externalTag = "v8dbg_ExternalStringTag"
    case slicedTag = "v8dbg_SlicedStringTag"
    case thinTag = "v8dbg_ThinStringTag"
    case smiShift = "v8dbg_SmiShiftSize"
    case taggedSize = "v8dbg_TaggedSize"
    case functionPlace = "v8dbg_off_fp_function"
    case contextPlace = "v8dbg_off_fp_context"
    case major = "_ZN2v88internal7Version6major_E"
    case minor = "_ZN2v88internal7Version6minor_E"
  }

  /// In the order of `Field`.
  let values: [Int32]

  /// Of V8 in node 20.
  static let version: (major: Int32, minor: Int32) = (11, 3)
  // LIMIT: bytes of an object's part that is looked at.
  private static let offsetMax: Int32 = 4096

  /// - Returns: nil for another version of V8, and for one that was built otherwise.
  init?(_ values: [Int32]) {
    guard values.count == Field.allCases.count else { return nil }
    self.values = values
    let offsets = Field.allCases.prefix { $0 != .sharedType }
    guard self[.major] == Self.version.major, self[.minor] == Self.version.minor, self[.smiShift] == 31,
      self[.taggedSize] == 8, self[.functionPlace] == -16, self[.contextPlace] == -8,
      offsets.allSatisfy({ (1..<Self.offsetMax).contains(self[$0]) })
    else { return nil }
  }

  /// The constants of a file; nil for one that is not V8. Those that it lacks are -1.
  static func values<Source: ByteSource>(_ elf: ElfFile<Source>) -> [Int32]? {
    let found = elf.addresses(ofSymbols: Set(Field.allCases.map { Array($0.rawValue.utf8) }))
    guard found[Array(Field.major.rawValue.utf8)] != nil else { return nil }
    return Field.allCases.map { field in
      found[Array(field.rawValue.utf8)].flatMap { elf.bytes(atAddress: $0, count: 4)?.word(Int32.self, at: 0) } ?? -1
    }
  }

  subscript(_ field: Field) -> Int32 {
    // There are as many as fields.
    values[Self.places[field] ?? 0]
  }

  private static let places = Dictionary(uniqueKeysWithValues: zip(Field.allCases, 0...))
}
