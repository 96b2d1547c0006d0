import DatalessCommands
import DatalessDaemon

@main
enum Dataless {
  static func main() {
    // First of all: this may be the daemon, which has to set up its signals before anything else runs.
    InternalEntryPoint.runIfRequested()
    DatalessCommand.start()
  }
}
