// The generated sources are for Apple's systems: elsewhere they miss an import of the network, and a module that
// knows the types of files. Here is what they miss on Linux, so that they compile there as they are.
#if os(Linux)
  import Foundation
  @_exported import FoundationNetworking

  public let kUTTagClassFilenameExtension = "public.filename-extension"
  public let kUTTagClassMIMEType = "public.mime-type"

  public func UTTypeCreatePreferredIdentifierForTag(
    _ tagClass: String, _ tag: NSString, _ conformingTo: NSString?
  ) -> Unmanaged<NSString>? { nil }

  public func UTTypeCopyPreferredTagWithClass(_ type: NSString, _ tagClass: String) -> Unmanaged<NSString>? { nil }
#endif
