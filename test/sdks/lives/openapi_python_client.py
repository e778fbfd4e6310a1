"""Two users' life with the client of openapi-python-client."""
import json
import sys

from accounts import Client
from accounts.api.friendships import friendship_agree, friendship_all, friendship_invite
from accounts.api.groups import group_by_id_members, group_create, user_groups
from accounts.api.login_and_passwords import user_login, user_logout, user_register
from accounts.api.sync import user_sync_by_version
from accounts.api.users import user_find_by_region_and_phone
from accounts.api.verification import user_send_code, user_verify_code
from accounts.models import (
    CodeToSend, CodeToVerify, Credentials, GroupToCreate, Invitation, NoSuchUserRefusal, NotSignedInRefusal, OneFriend,
    Registration, ReturnCode1000, SyncOptions,
)

URL, MESSAGES = sys.argv[1:]


def same(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found}, and not {wanted}")


def code_for(number):
    with open(MESSAGES) as lines:
        return [json.loads(line)["code"] for line in lines if number in line][-1]


def arrives(name, number):
    client = Client(base_url=URL)
    phone = {"region": 44, "phone": number}
    same("sent", user_send_code.sync(client=client, body=CodeToSend(**phone)).code, 200)
    verified = user_verify_code.sync(client=client, body=CodeToVerify(**phone, code=code_for(number)))
    token = verified.result.verification_token
    body = Registration(nickname=name, password="opensesame", verification_token=token)
    made = user_register.sync(client=client, body=body).result
    wrong = user_login.sync(client=client, body=Credentials(**phone, password="opensesam"))
    same("wrong password", (type(wrong), wrong.code), (ReturnCode1000, 1000))
    login = user_login.sync(client=client, body=Credentials(**phone, password="opensesame"))
    same("logged in", login.result.id, made.id)
    return client, made.id


ann, ann_id = arrives("Ann", "7911123458")
ben, ben_id = arrives("Ben", "7911123459")
asked = friendship_invite.sync(client=ann, body=Invitation(friend_id=ben_id))
same("asked", asked.result.action, "Sent")
friendship_agree.sync(client=ben, body=OneFriend(friend_id=ann_id))
same("friends", friendship_all.sync(client=ann).result[0].status, 20)

made = group_create.sync(client=ann, body=GroupToCreate(name="Choir", member_ids=[ben_id])).result
same("members", len(group_by_id_members.sync(made.id, client=ben).result), 2)

first = user_sync_by_version.sync(0, client=ben, body=SyncOptions()).result
same("synchronised", [len(first.friends), len(first.groups), len(first.group_members)], [1, 1, 2])
again = user_sync_by_version.sync(first.version, client=ben, body=SyncOptions()).result
same("again", again.friends + again.groups + again.group_members, [])

nobody = user_find_by_region_and_phone.sync("44", "7911123460", client=ann)
same("404", (type(nobody), nobody.reason), (NoSuchUserRefusal, "no_such_user"))
user_logout.sync(client=ann)
out = user_groups.sync(client=ann)
same("401", (type(out), out.reason), (NotSignedInRefusal, "not_signed_in"))
print("played to its end")
