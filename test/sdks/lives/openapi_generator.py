"""Two users' life with OpenAPI Generator's client for Python, which keeps no cookies by itself."""
import json
import sys

import accounts
from accounts import ApiClient, Configuration
from accounts.exceptions import NotFoundException, UnauthorizedException

URL, MESSAGES = sys.argv[1:]


def same(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found}, and not {wanted}")


def code_for(number):
    with open(MESSAGES) as lines:
        return [json.loads(line)["code"] for line in lines if number in line][-1]


def refusal_of(call, kind):
    try:
        call()
    except kind as refused:
        return refused.data.reason
    raise AssertionError("not refused")


def arrives(name, number):
    client = ApiClient(Configuration(host=URL))
    login, codes = accounts.LoginAndPasswordsApi(client), accounts.VerificationApi(client)
    phone = {"region": accounts.Region(44), "phone": accounts.PhoneNumber(number)}
    codes.user_send_code(accounts.CodeToSend(**phone))
    answer = codes.user_verify_code(accounts.CodeToVerify(**phone, code=code_for(number))).actual_instance
    token = answer.result.verification_token
    made = login.user_register(
        accounts.Registration(nickname=name, password="opensesame", verification_token=token)
    ).result
    wrong = login.user_login(accounts.Credentials(**phone, password="opensesam")).actual_instance
    same("wrong password", (type(wrong), wrong.code), (accounts.ReturnCode1000, 1000))
    # The other forms of this call keep one of the two cookies.
    signed_in = login.user_login_without_preload_content(accounts.Credentials(**phone, password="opensesame"))
    same("logged in", json.loads(signed_in.read())["result"]["id"], made.id)
    client.cookie = "; ".join(cookie.split(";")[0] for cookie in signed_in.headers.getlist("Set-Cookie"))
    return client, made.id


ann, ann_id = arrives("Ann", "7911123458")
ben, ben_id = arrives("Ben", "7911123459")
asked = accounts.FriendshipsApi(ann).friendship_invite(accounts.Invitation(friendId=ben_id))
same("asked", asked.result.action, "Sent")
accounts.FriendshipsApi(ben).friendship_agree(accounts.OneFriend(friendId=ann_id))
same("friends", accounts.FriendshipsApi(ann).friendship_all().result[0].status, 20)

group = accounts.GroupToCreate(name="Choir", memberIds=[ben_id])
made = accounts.GroupsApi(ann).group_create(group).actual_instance.result
same("members", len(accounts.GroupsApi(ben).group_by_id_members(made.id).result), 2)

sync = accounts.SyncApi(ben)
first = sync.user_sync_by_version(0).result
same("synchronised", [len(first.friends), len(first.groups), len(first.group_members)], [1, 1, 2])
again = sync.user_sync_by_version(first.version).result
same("again", again.friends + again.groups + again.group_members, [])

users = accounts.UsersApi(ann)
found = refusal_of(lambda: users.user_find_by_region_and_phone("44", "7911123460"), NotFoundException)
same("404", found, "no_such_user")
accounts.LoginAndPasswordsApi(ann).user_logout()
same("401", refusal_of(accounts.GroupsApi(ann).user_groups, UnauthorizedException), "not_signed_in")
print("played to its end")
