// Two users' life with OpenAPI Generator's client for Java.
import accounts.ApiClient;
import accounts.ApiException;
import accounts.api.*;
import accounts.model.*;
import java.net.CookieManager;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

public class Life {
  interface Call {
    void run() throws Exception;
  }

  record User(ApiClient client, String id) {}

  public static void main(String[] args) throws Exception {
    User ann = arrives(args, "Ann", "7911123458");
    User ben = arrives(args, "Ben", "7911123459");
    FriendshipsApi friendships = new FriendshipsApi(ann.client);
    Invitation invitation = new Invitation().friendId(ben.id);
    same("asked", friendships.friendshipInvite(invitation).getResult().getAction(), InvitationAction.SENT);
    new FriendshipsApi(ben.client).friendshipAgree(new OneFriend().friendId(ann.id));
    same("friends", friendships.friendshipAll().getResult().get(0).getStatus().getValue(), 20);

    GroupsApi groups = new GroupsApi(ann.client);
    GroupToCreate choir = new GroupToCreate().name("Choir").memberIds(List.of(ben.id));
    String group = groups.groupCreate(choir).getGroupCreateSuccess().getResult().getId();
    same("members", new GroupsApi(ben.client).groupByIdMembers(group).getResult().size(), 2);

    SyncApi sync = new SyncApi(ben.client);
    SyncChanges first = sync.userSyncByVersion(0L, new SyncOptions()).getResult();
    same("synchronised", sizesOf(first), List.of(1, 1, 2));
    same("again", sizesOf(sync.userSyncByVersion(first.getVersion(), new SyncOptions()).getResult()), List.of(0, 0, 0));

    UsersApi users = new UsersApi(ann.client);
    refused("404", 404, "no_such_user", () -> users.userFindByRegionAndPhone("44", "7911123460"));
    new LoginAndPasswordsApi(ann.client).userLogout();
    refused("401", 401, "not_signed_in", groups::userGroups);
    System.out.println("played to its end");
  }

  static User arrives(String[] args, String name, String number) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setHttpClientBuilder(HttpClient.newBuilder().cookieHandler(new CookieManager()));
    LoginAndPasswordsApi login = new LoginAndPasswordsApi(client);
    VerificationApi codes = new VerificationApi(client);
    Region region = new Region(44L);
    PhoneNumber phone = new PhoneNumber(number);
    codes.userSendCode(new CodeToSend().region(region).phone(phone));
    CodeToVerify code = new CodeToVerify().region(region).phone(phone).code(codeFor(args[1], number));
    String token = codes.userVerifyCode(code).getUserVerifyCodeSuccess().getResult().getVerificationToken();
    Registration registration = new Registration().nickname(name).password("opensesame").verificationToken(token);
    String id = login.userRegister(registration).getResult().getId();
    Credentials credentials = new Credentials().region(region).phone(phone);
    same("wrong", login.userLogin(credentials.password("opensesam")).getReturnCode1000().getCode().getValue(), 1000);
    same("in", login.userLogin(credentials.password("opensesame")).getUserLoginSuccess().getResult().getId(), id);
    return new User(client, id);
  }

  static List<Integer> sizesOf(SyncChanges changes) {
    return List.of(changes.getFriends().size(), changes.getGroups().size(), changes.getGroupMembers().size());
  }

  static String codeFor(String messages, String number) throws Exception {
    String line = Files.readAllLines(Path.of(messages)).stream().filter(one -> one.contains(number)).reduce("", (one, other) -> other);
    var found = Pattern.compile("\"code\":\"(\\d+)\"").matcher(line);
    return found.find() ? found.group(1) : "";
  }

  static void refused(String what, int status, String reason, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException error) {
      same(what, error.getCode() + " " + error.getResponseHeaders().firstValue("X-Reason").orElse(""), status + " " + reason);
      return;
    }
    throw new AssertionError(what + ": not refused");
  }

  static void same(String what, Object found, Object wanted) {
    if (!Objects.equals(found, wanted)) throw new AssertionError(what + ": " + found + ", and not " + wanted);
  }
}
