// What the client of docs/kotlin.md does with a real service. The code of the page is compiled beside it.
import accounts.apis.*
import accounts.models.*
import java.io.File
import kotlin.system.exitProcess
import kotlinx.coroutines.runBlocking

private const val ANN = "7911123458"
private const val BEN = "7911123459"
private const val NOBODY = "7911123460"
private const val PASSWORD = "opensesame"

/** `base` is the service's address, `messages` the file of its SMS. */
private class Play(val base: String, val folder: File, val messages: File, val picture: File) {
  suspend fun all() {
    same("no store yet", savedStore(fileOf("Ann")).version, 0L)
    val stranger = accounts("nobody")
    same("without a session", refusalOf { stranger.sync.userSyncByVersion(0, SyncOptions()).answer() }, "not_signed_in")
    val ann = arrives("Ann", ANN)
    returnCodes(ann)
    folds(ann, arrives("Ben", BEN))
    comesBack()
    sendsAnImage(ann)
    ann.logOut()
    same("after the logout", refusalOf { ann.uploadTokens.userGetToken(TokenOptions()).answer() }, "not_signed_in")
    same("session in the file", File(folder, "Ann/tokens").readLines().first(), "")
  }

  fun accounts(name: String) = Accounts(base, File(folder, name).apply { mkdirs() })

  fun fileOf(name: String) = File(folder, "$name/store")

  suspend fun arrives(name: String, number: String): Accounts {
    val accounts = accounts(name)
    val phone = phoneOf("44", number)
    same("code sent", codeSent(accounts, phone), true)
    val line = messages.readLines().last { number in it }
    val code = Regex("\"code\":\"(\\d+)\"").find(line)!!.groupValues[1]
    val token = accounts.verify(phone, code) ?: error("the right code is refused")
    if (name == "Ben") {
      val id = accounts.enter(token, name)
      same("entered again", accounts.enter(token, name), id)
      return accounts
    }
    accounts.login.userRegister(Registration(name, PASSWORD, token)).answer()
    same("logged in", accounts.logIn(phone, PASSWORD), true)
    return accounts
  }

  suspend fun codeSent(accounts: Accounts, phone: Phone): Boolean {
    val answer = accounts.verification.userSendCode(CodeToSend(phone.region, phone.phone))
    if (answer.answer() is UserSendCodeAnswer.ReturnCode5000Value) same("reason of 5000", answer.reason, "too_soon")
    return answer.answer() is UserSendCodeAnswer.DoneValue
  }

  suspend fun returnCodes(ann: Accounts) {
    val phone = phoneOf("44", NOBODY)
    same("first code", codeSent(ann, phone), true)
    val asNumbers = Phone(Region.LongValue(44), PhoneNumber.LongValue(NOBODY.toLong()))
    same("second code", codeSent(ann, asNumbers), false)
    same("wrong code", ann.verify(phone, "no code"), null)
    same("wrong password", ann.logIn(phoneOf("44", ANN), "opensesam"), false)
    same("no nickname", refusalOf { ann.profile.userSetNickname(NewNickname("")).answer() }, "invalid_input")
  }

  /** Ann's copy after each of Ben's doings. */
  suspend fun folds(ann: Accounts, ben: Accounts) {
    val store = Store()
    suspend fun synced() = store.also { ann.bringUpToDate(it, fileOf("Ann")) }
    val annId = synced().user!!.id
    val benId = Store().also { ben.bringUpToDate(it, fileOf("Ben")) }.user!!.id

    ben.api<FriendshipsApi>().friendshipInvite(Invitation(annId)).answer()
    same("requested", synced().friends[benId]?.status, FriendStatus.requested)
    same("by name", store.friends[benId]?.user?.nickname, "Ben")
    ann.api<FriendshipsApi>().friendshipAgree(OneFriend(benId)).answer()
    same("friends", synced().friends[benId]?.status, FriendStatus.friends)

    val created = ben.api<GroupsApi>().groupCreate(GroupToCreate("Choir", listOf(annId))).answer()
    val group = (created as GroupCreateAnswer.GroupCreateSuccessValue).value.result.id
    same("members", synced().members[group]?.keys, setOf(annId, benId))
    ben.api<GroupsApi>().groupRename(NewGroupName(group, "Band")).answer()
    same("renamed", synced().groups[group]?.group?.name, "Band")
    same("not dismissed", ben.api<GroupsApi>().groupById(group).answer().result.dismissedAt, null)
    ben.api<GroupMembersApi>().groupDismiss(OneGroup(group)).answer()
    same("dismissed", synced().groups.keys + store.members.keys, emptySet<String>())

    ann.api<FriendshipsApi>().friendshipDelete(OneFriend(benId)).answer()
    same("friends no more", synced().friends.keys, emptySet<String>())
    ann.api<BlacklistApi>().userAddToBlacklist(OneUser(benId)).answer()
    same("on the blacklist", synced().blacklist.keys, setOf(benId))
    ann.api<BlacklistApi>().userRemoveFromBlacklist(OneUser(benId)).answer()
    same("off the blacklist", synced().blacklist.keys, emptySet<String>())
  }

  /** As after a start of the app: what the files hold is all that it has. */
  suspend fun comesBack() {
    val store = savedStore(fileOf("Ann"))
    val version = store.version
    accounts("Ann").bringUpToDate(store, fileOf("Ann"))
    same("kept", listOf(version > 0, store.user?.nickname), listOf(true, "Ann"))
  }

  suspend fun sendsAnImage(ann: Accounts) {
    ann.setPortrait(picture)
    val portrait = Store().also { ann.bringUpToDate(it, fileOf("Ann")) }.user!!.portraitUri
    val found = ann.api<UsersApi>().userFindByRegionAndPhone("44", ANN).answer().result
    same("portrait", listOf(found.portraitUri, portrait.startsWith("$base/files/")), listOf(portrait, true))
  }
}

private suspend fun refusalOf(call: suspend () -> Unit): String? =
  try {
    call()
    null
  } catch (refused: Refused) {
    refused.reason
  }

private fun same(what: String, found: Any?, wanted: Any?) =
  check(found == wanted) { "$what: $found, and not $wanted" }

fun main(args: Array<String>) {
  val (base, folder, messages, picture) = args
  runBlocking { Play(base, File(folder), File(messages), File(picture)).all() }
  println("played to its end")
  // OkHttp's threads would keep the process for a minute.
  exitProcess(0)
}
