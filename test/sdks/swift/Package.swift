// swift-tools-version:6.0
import PackageDescription

// The generated sources in AccountsClient, the code of docs/swift.md, and what plays with both.
let package = Package(
  name: "Play",
  platforms: [.macOS(.v10_15)],
  targets: [
    .target(name: "MobileCoreServices"),
    .target(
      name: "AccountsClient",
      dependencies: [.target(name: "MobileCoreServices", condition: .when(platforms: [.linux]))],
      path: "AccountsClient/Sources/AccountsClient"),
    .executableTarget(name: "Play", dependencies: ["AccountsClient"]),
  ],
  swiftLanguageModes: [.v6]
)
