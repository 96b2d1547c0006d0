import DatalessCore

/// Values of `synthetic:files=1000,depth=2,size=4k..1m,seed=42`.
enum SyntheticGolden {
  static let firstPath = "images-0000/backup-0000/lecture-0000.docx"
  static let firstSize: Int64 = 124_956
  static let firstTime = Timestamp(seconds: 1_690_933_685, nanoseconds: 982_211_260)
  static let firstBytes: [UInt8] = [197, 96, 229, 110, 186, 248, 171, 176, 79, 159, 72, 68, 16, 231, 78, 229]
  static let lastPath = "media-0002/talks-0001/order-0099.docx"
}
