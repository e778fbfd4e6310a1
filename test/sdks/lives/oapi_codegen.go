// Two users' life with the client of oapi-codegen.
package main

import (
	"accounts"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
)

var ctx = context.Background()

type user struct{ *accounts.ClientWithResponses }

func main() {
	url, messages := os.Args[1], os.Args[2]
	ann, annID := arrives(url, messages, "Ann", "7911123458")
	ben, benID := arrives(url, messages, "Ben", "7911123459")

	befriend(ann, ben, annID, benID)
	friends := got(ann.FriendshipAllWithResponse(ctx)).JSON200.Result
	same("friends", friends[0].Status, accounts.Friends)

	group := accounts.GroupToCreate{Name: "Choir", MemberIds: []string{benID}}
	made := got(got(ann.GroupCreateWithResponse(ctx, group)).JSON200.AsGroupCreateSuccess())
	members := got(ben.GroupByIdMembersWithResponse(ctx, made.Result.Id)).JSON200.Result
	same("members", len(members), 2)

	all := got(ben.UserSyncByVersionWithResponse(ctx, 0, accounts.SyncOptions{})).JSON200.Result
	same("synchronised", []int{len(all.Friends), len(all.Groups), len(all.GroupMembers)}, []int{1, 1, 2})
	none := got(ben.UserSyncByVersionWithResponse(ctx, all.Version, accounts.SyncOptions{})).JSON200.Result
	same("again", len(none.Friends)+len(none.Groups)+len(none.GroupMembers), 0)

	nobody := got(ann.UserFindByRegionAndPhoneWithResponse(ctx, "44", "7911123460"))
	same("404", nobody.JSON404.Reason, accounts.NoSuchUserRefusalReasonNoSuchUser)
	got(ann.UserLogoutWithResponse(ctx))
	same("401", got(ann.UserGroupsWithResponse(ctx)).JSON401.Reason, accounts.NotSignedInRefusalReasonNotSignedIn)
	fmt.Println("played to its end")
}

func arrives(url, messages, name, number string) (user, string) {
	jar, _ := cookiejar.New(nil)
	client := user{got(accounts.NewClientWithResponses(url, accounts.WithHTTPClient(&http.Client{Jar: jar})))}
	region, phone := accounts.Region{}, accounts.PhoneNumber{}
	check(region.FromRegion0(44))
	check(phone.FromPhoneNumber1(number))
	sent := got(client.UserSendCodeWithResponse(ctx, accounts.CodeToSend{Region: region, Phone: phone}))
	same("sent", sent.StatusCode(), 200)
	code := accounts.CodeToVerify{Region: region, Phone: phone, Code: codeFor(messages, number)}
	verified := got(got(client.UserVerifyCodeWithResponse(ctx, code)).JSON200.AsUserVerifyCodeSuccess())
	registration := accounts.Registration{Nickname: name, Password: "opensesame", VerificationToken: verified.Result.VerificationToken}
	id := got(client.UserRegisterWithResponse(ctx, registration)).JSON200.Result.Id

	wrong := got(client.UserLoginWithResponse(ctx, accounts.Credentials{Region: region, Phone: phone, Password: "opensesam"}))
	same("wrong password", got(wrong.JSON200.AsReturnCode1000()).Code, 1000)
	login := got(client.UserLoginWithResponse(ctx, accounts.Credentials{Region: region, Phone: phone, Password: "opensesame"}))
	same("logged in", got(login.JSON200.AsUserLoginSuccess()).Result.Id, id)
	return client, id
}

func befriend(ann, ben user, annID, benID string) {
	asked := got(ann.FriendshipInviteWithResponse(ctx, accounts.Invitation{FriendId: benID})).JSON200.Result
	same("asked", string(asked.Action), "Sent")
	same("agreed", got(ben.FriendshipAgreeWithResponse(ctx, accounts.OneFriend{FriendId: annID})).StatusCode(), 200)
}

func codeFor(messages, number string) string {
	lines := strings.Split(string(got(os.ReadFile(messages))), "\n")
	code := ""
	for _, line := range lines {
		if found := regexp.MustCompile(`"code":"(\d+)"`).FindStringSubmatch(line); found != nil && strings.Contains(line, number) {
			code = found[1]
		}
	}
	return code
}

func got[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func same(what string, found, wanted any) {
	one, _ := json.Marshal(found)
	other, _ := json.Marshal(wanted)
	if string(one) != string(other) {
		panic(fmt.Sprintf("%s: %s, and not %s", what, one, other))
	}
}
