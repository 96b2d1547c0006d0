extension ItemContent {
  /// Content without a file.
  struct Dropped {
    let reference: ContentID
    /// Bytes that were there.
    let bytes: Int64
    /// Content that a transfer may still write to: it is removed when the last of them has ended.
    let writtenTo: RangedContent?
    /// What the store had by then, if the content was an older version that stayed.
    var newer: ListedItem?
  }
}
