import DatalessControl

/// One page for a browser, without network: the data as JSON, and the script and style that are part of the executable
/// (Page/). The browser is told to run that script alone and to load nothing, so that a mistake in escaping would be
/// no more than a mistake.
enum HTMLWriter {
  /// As a Content-Security-Policy names what it allows: SHA-256 of Page/report.js and Page/report.css, held against the
  /// files by `PageTests`.
  static let scriptHash = "sha256-VNB8bGcxwgKFlLezhlIPsYMiG9DJ/H6sTbE6O3qkROo="
  static let styleHash = "sha256-xGGmFyu1N5jjxuA7mrVJ2+YC9z4KgNqew9uIjkLbUUA="

  static func write(_ report: Report, to file: ReportFile) throws(ControlError) {
    let (script, style) = (PackageResources.report_js, PackageResources.report_css)
    let policy =
      "default-src 'none'; script-src '\(scriptHash)'; style-src '\(styleHash)'; base-uri 'none'; "
      + "form-action 'none'"
    try file.write("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
    try file.write("<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n")
    try file.write("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
    try file.write("<title>\(EscapedText.markup(PageData.title(report)))</title>\n<style>")
    try file.write(style)
    try file.write("</style>\n</head>\n<body>\n<h1>\(EscapedText.markup(PageData.title(report)))</h1>\n")
    try file.write("<p class=\"faint\">\(EscapedText.markup(PageData.origin(report)))</p>\n")
    try file.write("<nav id=\"links\" aria-label=\"parts of the report\"></nav>\n<main id=\"report\">\n<noscript><pre>")
    for line in SummaryText.lines(report.summary, width: 100) { try file.write(EscapedText.markup(line) + "\n") }
    try file.write("</pre></noscript>\n</main>\n<script type=\"application/json\" id=\"data\">")
    var data = PageData(report)
    try file.write(data.json())
    try file.write("</script>\n<script>")
    try file.write(script)
    try file.write("</script>\n</body>\n</html>\n")
    try file.commit()
  }
}
