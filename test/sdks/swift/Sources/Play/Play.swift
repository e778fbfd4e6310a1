// What the client of docs/swift.md does with a real service. The code of the page is compiled beside it.
import AccountsClient
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

let ANN = "7911123458"
let BEN = "7911123459"
let NOBODY = "7911123460"
let PASSWORD = "opensesame"

/// `base` is the service's address, `messages` the file of its SMS.
final class Play {
  let base: String
  let folder: URL
  let messages: URL
  let picture: URL
  private var user = "nobody"
  private var sessions: [String: [HTTPCookie]] = [:]

  init(base: String, folder: String, messages: String, picture: String) {
    self.base = base
    self.folder = URL(fileURLWithPath: folder)
    self.messages = URL(fileURLWithPath: messages)
    self.picture = URL(fileURLWithPath: picture)
  }

  func begins() async throws {
    try same("no store yet", savedStore(file("Ann")).version, 0)
    try await same("without a session", refusal { try await SyncAPI.userSyncByVersion(version: 0) }, "not_signed_in")
    try await arrives("Ann", ANN)
    try await returnCodes()
    try await arrives("Ben", BEN)
    try await folds()
    become("Ann")
  }

  /// After a new start of the app: what files and the storage of cookies hold is all that it has.
  func goesOn() async throws {
    let store = try savedStore(file("Ann"))
    let now = try await broughtUpToDate(store, file("Ann"))
    try same("version kept", store.version > 0, true)
    try same("session kept", now.user?.nickname, "Ann")
    try await sendsAnImage()
    _ = try await LoginAndPasswordsAPI.userLogout()
    try await same("after the logout", refusal { try await TokensAPI.userGetToken() }, "not_signed_in")
    try same("session in the storage", HTTPCookieStorage.shared.cookies?.contains { $0.name == "sid" }, false)
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent("\(name).json") }

  /// The storage has the session of one user, as in an app; this puts another's into it.
  func become(_ other: String) {
    let storage = HTTPCookieStorage.shared
    let cookies = storage.cookies ?? []
    sessions[user] = cookies
    for cookie in cookies { storage.deleteCookie(cookie) }
    for cookie in sessions[other] ?? [] { storage.setCookie(cookie) }
    user = other
  }

  func arrives(_ name: String, _ number: String) async throws {
    become(name)
    try await same("code sent", reason(sendCode(region: "44", phone: number)), nil)
    guard let token = try await verify(region: "44", phone: number, code: code(number)) else {
      throw Different(description: "the right code is refused")
    }
    let registration = Registration(nickname: name, password: PASSWORD, verificationToken: token)
    _ = try await LoginAndPasswordsAPI.userRegister(registration: registration)
    try await same("logged in", logIn(region: "44", phone: number, password: PASSWORD), true)
  }

  func code(_ number: String) throws -> String {
    let lines = try String(contentsOf: messages, encoding: .utf8).split(separator: "\n")
    let all = try lines.map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)) }
    return all.last { $0.to.hasSuffix(number) }?.code ?? "none"
  }

  func returnCodes() async throws {
    try await same("first code", reason(sendCode(region: "44", phone: NOBODY)), nil)
    try await same("second code", reason(sendCode(region: "44", phone: NOBODY)), "too_soon")
    let asNumbers = CodeToSend(region: .typeInt64(44), phone: .typeInt64(Int64(NOBODY)!))
    guard case .typeReturnCode5000 = try await VerificationAPI.userSendCode(codeToSend: asNumbers) else {
      throw Different(description: "a code for the same phone, which is told in numbers")
    }
    try await same("wrong code", verify(region: "44", phone: NOBODY, code: "no code"), nil)
    try await same("wrong password", logIn(region: "44", phone: ANN, password: "opensesam"), false)
    let empty = NewNickname(nickname: "")
    try await same("no nickname", refusal { try await ProfileAPI.userSetNickname(newNickname: empty) }, "invalid_input")
  }

  /// Ann's copy after each of Ben's doings.
  func folds() async throws {
    let benId = try await broughtUpToDate(Store(), file("Ben")).user!.id
    become("Ann")
    var store = try await broughtUpToDate(Store(), file("Ann"))
    let annId = store.user!.id

    become("Ben")
    _ = try await FriendshipsAPI.friendshipInvite(invitation: Invitation(friendId: annId))
    store = try await synced(store)
    try same("requested", store.friends[benId]?.status, .requested)
    try same("by name", store.friends[benId]?.user?.nickname, "Ben")
    _ = try await FriendshipsAPI.friendshipAgree(oneFriend: OneFriend(friendId: benId))
    store = try await synced(store)
    try same("friends", store.friends[benId]?.status, .friends)

    store = try await foldsAGroup(store, annId, benId)

    _ = try await FriendshipsAPI.friendshipDelete(oneFriend: OneFriend(friendId: benId))
    store = try await synced(store)
    try same("friends no more", store.friends.count, 0)
    _ = try await BlacklistAPI.userAddToBlacklist(oneUser: OneUser(friendId: benId))
    store = try await synced(store)
    try same("on the blacklist", [String](store.blacklist.keys), [benId])
    _ = try await BlacklistAPI.userRemoveFromBlacklist(oneUser: OneUser(friendId: benId))
    store = try await synced(store)
    try same("off the blacklist", store.blacklist.count, 0)
  }

  func foldsAGroup(_ before: Store, _ annId: String, _ benId: String) async throws -> Store {
    become("Ben")
    let choir = GroupToCreate(name: "Choir", memberIds: [annId])
    guard case .typeGroupCreateSuccess(let created) = try await GroupsAPI.groupCreate(newGroup: choir) else {
      throw Different(description: "a group that has to wait for its members")
    }
    let group = created.result.id
    var store = try await synced(before)
    try same("members", store.members[group]?.keys.sorted(), [annId, benId].sorted())

    become("Ben")
    _ = try await GroupsAPI.groupRename(newGroupName: NewGroupName(groupId: group, name: "Band"))
    store = try await synced(store)
    try same("renamed", store.groups[group]?.group.name, "Band")

    become("Ben")
    try await same("not dismissed", GroupsAPI.groupById(id: group).result.dismissedAt, nil)
    _ = try await GroupMembersAPI.groupDismiss(oneGroup: OneGroup(groupId: group))
    store = try await synced(store)
    try same("dismissed", store.groups.count + store.members.count, 0)
    return store
  }

  func synced(_ store: Store) async throws -> Store {
    become("Ann")
    return try await broughtUpToDate(store, file("Ann"))
  }

  func sendsAnImage() async throws {
    try await setPortrait(picture)
    let portrait = try await broughtUpToDate(Store(), file("Ann")).user!.portraitUri
    try same("portrait's place", portrait.hasPrefix("\(base)/files/"), true)
    try await same("portrait", UsersAPI.userFindByRegionAndPhone(region: "44", phone: ANN).result.portraitUri, portrait)
  }
}

struct Message: Decodable {
  let to: String
  let code: String
}

struct Different: Error, CustomStringConvertible {
  let description: String
}

func same<Value: Equatable>(_ what: String, _ found: Value, _ wanted: Value) throws {
  guard found == wanted else { throw Different(description: "\(what): \(found), and not \(wanted)") }
}

func reason(_ sent: Sent) -> String? {
  if case .refused(let reason) = sent { reason } else { nil }
}

func refusal<Answer>(_ call: () async throws -> Answer) async throws -> String? {
  do {
    _ = try await call()
    return nil
  } catch let error as ErrorResponse {
    guard let refused = error.refused else { throw error }
    return refused.reason
  }
}

@main
struct Main {
  static func main() async {
    let words = CommandLine.arguments
    let play = Play(base: words[2], folder: words[3], messages: words[4], picture: words[5])
    useService(at: words[2])
    do {
      if words[1] == "begins" { try await play.begins() } else { try await play.goesOn() }
      print("played to its end")
    } catch {
      print(error)
      exit(1)
    }
  }
}
