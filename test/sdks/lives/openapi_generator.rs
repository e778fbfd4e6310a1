// Two users' life with OpenAPI Generator's client for Rust.
use accounts::apis::configuration::Configuration;
use accounts::apis::Error::ResponseError;
use accounts::apis::{friendships_api, groups_api, login_and_passwords_api, sync_api, users_api, verification_api};
use accounts::models::*;

struct User(Configuration, String);

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let ann = arrives(&args, "Ann", "7911123458").await;
    let ben = arrives(&args, "Ben", "7911123459").await;

    let asked = friendships_api::friendship_invite(&ann.0, Invitation::new(ben.1.clone())).await.unwrap();
    assert_eq!(asked.result.action, InvitationAction::Sent);
    friendships_api::friendship_agree(&ben.0, OneFriend::new(ann.1.clone())).await.unwrap();
    let friends = friendships_api::friendship_all(&ann.0).await.unwrap().result;
    assert_eq!(friends[0].status, FriendStatus::friends);

    let choir = GroupToCreate::new("Choir".into(), vec![ben.1.clone()]);
    let GroupCreateAnswer::GroupCreateSuccess(made) = groups_api::group_create(&ann.0, choir).await.unwrap() else {
        panic!("no group");
    };
    let members = groups_api::group_by_id_members(&ben.0, &made.result.id).await.unwrap().result;
    assert_eq!(members.len(), 2);

    let first = sync_api::user_sync_by_version(&ben.0, 0, None).await.unwrap().result;
    assert_eq!((first.friends.len(), first.groups.len(), first.group_members.len()), (1, 1, 2));
    let again = sync_api::user_sync_by_version(&ben.0, first.version, None).await.unwrap().result;
    assert_eq!((again.friends.len(), again.groups.len(), again.group_members.len()), (0, 0, 0));

    match users_api::user_find_by_region_and_phone(&ann.0, "44", "7911123460").await {
        Err(ResponseError(refused)) => match refused.entity {
            Some(users_api::UserFindByRegionAndPhoneError::Status404(no)) => {
                assert_eq!(no.reason, no_such_user_refusal::Reason::NoSuchUser)
            }
            other => panic!("no 404: {other:?}"),
        },
        other => panic!("not refused: {other:?}"),
    }
    login_and_passwords_api::user_logout(&ann.0).await.unwrap();
    match groups_api::user_groups(&ann.0).await {
        Err(ResponseError(refused)) => match refused.entity {
            Some(groups_api::UserGroupsError::Status401(out)) => {
                assert_eq!(out.reason, not_signed_in_refusal::Reason::NotSignedIn)
            }
            other => panic!("no 401: {other:?}"),
        },
        other => panic!("not refused: {other:?}"),
    }
    println!("played to its end");
}

async fn arrives(args: &[String], name: &str, number: &str) -> User {
    let client = reqwest::Client::builder().cookie_store(true).build().unwrap();
    let base_path = args[1].clone();
    let settings = Configuration { base_path, client, ..Configuration::default() };
    let (region, phone) = (Region::Integer(44), PhoneNumber::String(number.into()));
    let sent = verification_api::user_send_code(&settings, CodeToSend::new(region.clone(), phone.clone())).await;
    assert!(matches!(sent.unwrap(), UserSendCodeAnswer::Done(_)));
    let code = CodeToVerify::new(region.clone(), phone.clone(), code_for(&args[2], number));
    let verified = verification_api::user_verify_code(&settings, code).await.unwrap();
    let UserVerifyCodeAnswer::UserVerifyCodeSuccess(verified) = verified else {
        panic!("the right code is refused");
    };
    let registration = Registration::new(name.into(), "opensesame".into(), verified.result.verification_token);
    let id = login_and_passwords_api::user_register(&settings, registration).await.unwrap().result.id;

    let wrong = Credentials::new(region.clone(), phone.clone(), "opensesam".into());
    let answer = login_and_passwords_api::user_login(&settings, wrong).await.unwrap();
    assert!(matches!(answer, UserLoginAnswer::ReturnCode1000(_)));
    let right = Credentials::new(region, phone, "opensesame".into());
    match login_and_passwords_api::user_login(&settings, right).await.unwrap() {
        UserLoginAnswer::UserLoginSuccess(login) => assert_eq!(login.result.id, id),
        other => panic!("the right password is refused: {other:?}"),
    }
    User(settings, id)
}

fn code_for(messages: &str, number: &str) -> String {
    let text = std::fs::read_to_string(messages).unwrap();
    let line = text.lines().filter(|line| line.contains(number)).last().unwrap();
    let sent: serde_json::Value = serde_json::from_str(line).unwrap();
    sent["code"].as_str().unwrap().into()
}
