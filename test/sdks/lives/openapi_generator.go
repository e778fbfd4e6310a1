// Two users' life with OpenAPI Generator's client for Go.
package main

import (
	"accounts"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
)

var ctx = context.Background()

func main() {
	url, messages := os.Args[1], os.Args[2]
	ann, annID := arrives(url, messages, "Ann", "7911123458")
	ben, benID := arrives(url, messages, "Ben", "7911123459")

	asked, _, err := ann.FriendshipsAPI.FriendshipInvite(ctx).Invitation(*accounts.NewInvitation(benID)).Execute()
	check(err)
	same("asked", asked.Result.Action, "Sent")
	_, _, err = ben.FriendshipsAPI.FriendshipAgree(ctx).OneFriend(*accounts.NewOneFriend(annID)).Execute()
	check(err)
	friends, _, err := ann.FriendshipsAPI.FriendshipAll(ctx).Execute()
	check(err)
	same("friends", friends.Result[0].Status, 20)

	group := accounts.NewGroupToCreate("Choir", []string{benID})
	made, _, err := ann.GroupsAPI.GroupCreate(ctx).GroupToCreate(*group).Execute()
	check(err)
	members, _, err := ben.GroupsAPI.GroupByIdMembers(ctx, made.GroupCreateSuccess.Result.Id).Execute()
	check(err)
	same("members", len(members.Result), 2)

	all, _, err := ben.SyncAPI.UserSyncByVersion(ctx, 0).Execute()
	check(err)
	same("synchronised", []int{len(all.Result.Friends), len(all.Result.Groups), len(all.Result.GroupMembers)}, []int{1, 1, 2})
	none, _, err := ben.SyncAPI.UserSyncByVersion(ctx, all.Result.Version).Execute()
	check(err)
	same("again", len(none.Result.Friends)+len(none.Result.Groups)+len(none.Result.GroupMembers), 0)

	_, _, err = ann.UsersAPI.UserFindByRegionAndPhone(ctx, "44", "7911123460").Execute()
	same("404", refusalOf(err).(accounts.NoSuchUserRefusal).Reason, "no_such_user")
	_, _, err = ann.LoginAndPasswordsAPI.UserLogout(ctx).Execute()
	check(err)
	_, _, err = ann.GroupsAPI.UserGroups(ctx).Execute()
	same("401", refusalOf(err).(accounts.NotSignedInRefusal).Reason, "not_signed_in")
	fmt.Println("played to its end")
}

func arrives(url, messages, name, number string) (*accounts.APIClient, string) {
	jar, _ := cookiejar.New(nil)
	settings := accounts.NewConfiguration()
	settings.Servers = accounts.ServerConfigurations{{URL: url}}
	settings.HTTPClient = &http.Client{Jar: jar}
	client := accounts.NewAPIClient(settings)
	code44 := int64(44)
	region, phone := accounts.Int64AsRegion(&code44), accounts.StringAsPhoneNumber(&number)

	_, _, err := client.VerificationAPI.UserSendCode(ctx).CodeToSend(*accounts.NewCodeToSend(region, phone)).Execute()
	check(err)
	code := accounts.NewCodeToVerify(region, phone, codeFor(messages, number))
	verified, _, err := client.VerificationAPI.UserVerifyCode(ctx).CodeToVerify(*code).Execute()
	check(err)
	token := verified.UserVerifyCodeSuccess.Result.VerificationToken
	registration := accounts.NewRegistration(name, "opensesame", token)
	made, _, err := client.LoginAndPasswordsAPI.UserRegister(ctx).Registration(*registration).Execute()
	check(err)

	wrong, _, err := client.LoginAndPasswordsAPI.UserLogin(ctx).Credentials(*accounts.NewCredentials(region, phone, "opensesam")).Execute()
	check(err)
	same("wrong password", wrong.ReturnCode1000.Code, 1000)
	login, _, err := client.LoginAndPasswordsAPI.UserLogin(ctx).Credentials(*accounts.NewCredentials(region, phone, "opensesame")).Execute()
	check(err)
	same("logged in", login.UserLoginSuccess.Result.Id, made.Result.Id)
	return client, made.Result.Id
}

func refusalOf(err error) any {
	var refused *accounts.GenericOpenAPIError
	if !errors.As(err, &refused) {
		panic(fmt.Sprint("no refusal: ", err))
	}
	return refused.Model()
}

func codeFor(messages, number string) string {
	text, err := os.ReadFile(messages)
	check(err)
	code := ""
	for _, line := range strings.Split(string(text), "\n") {
		if found := regexp.MustCompile(`"code":"(\d+)"`).FindStringSubmatch(line); found != nil && strings.Contains(line, number) {
			code = found[1]
		}
	}
	return code
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
