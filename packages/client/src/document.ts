// Generated from docs/openapi.json by npm run types. Do not edit.
// SHA-256 of the document: f4aedfcaaac1ad4479432d3a90518089f07c566c5e29e1d2f5947df7a7cfeda3

export interface paths {
    "/user/send_code": {
        /** Sends a verification code to a phone, in an SMS or by another channel. */
        post: operations["userSendCode"];
    };
    "/user/verify_code": {
        /** Exchanges a code for a verification token. */
        post: operations["userVerifyCode"];
    };
    "/user/check_phone_available": {
        /** Returns whether a phone may be registered. */
        post: operations["userCheckPhoneAvailable"];
    };
    "/user/get_sms_img_code": {
        /** Creates a captcha, which raises the limits of send_code. */
        post: operations["userGetSmsImgCode"];
    };
    "/user/register": {
        /** Creates an account for the phone of a verification token. */
        post: operations["userRegister"];
    };
    "/user/login": {
        /** Starts a session, whose cookie is the first in the answer. */
        post: operations["userLogin"];
    };
    "/user/login_by_token": {
        /** Starts a session with a verification token, without a password. */
        post: operations["userLoginByToken"];
    };
    "/user/register_by_token": {
        /** Creates an account without a password for the phone of a verification token, and starts a session. */
        post: operations["userRegisterByToken"];
    };
    "/user/logout": {
        /** Ends the session, and removes its cookie. */
        post: operations["userLogout"];
    };
    "/user/reset_password": {
        /** Sets a new password with a verification token, and ends all sessions. */
        post: operations["userResetPassword"];
    };
    "/user/set_password": {
        /** Sets the first password of an account that has none, and ends all other sessions. */
        post: operations["userSetPassword"];
    };
    "/user/change_password": {
        /** Sets a new password with the old one, and ends all other sessions. */
        post: operations["userChangePassword"];
    };
    "/user/sessions": {
        /** Returns the user's sessions, the newest first. */
        post: operations["userSessions"];
    };
    "/user/sessions/check": {
        /** Returns whether the request has the session of a user. */
        post: operations["userSessionsCheck"];
    };
    "/user/end_session": {
        /** Ends one of the user's sessions. */
        post: operations["userEndSession"];
    };
    "/user/set_nickname": {
        /** Changes the user's nickname. */
        post: operations["userSetNickname"];
    };
    "/user/set_portrait_uri": {
        /** Changes the address of the user's portrait. */
        post: operations["userSetPortraitUri"];
    };
    "/user/remove_portrait": {
        /** Removes the user's portrait. */
        post: operations["userRemovePortrait"];
    };
    "/user/close_account": {
        /** Closes the account: ends everything that belongs to it, and frees its phone. */
        post: operations["userCloseAccount"];
    };
    "/user/change_phone": {
        /** Changes the phone to that of a verification token, and ends all other sessions. */
        post: operations["userChangePhone"];
    };
    "/user/start_over": {
        /** Says that the account of a phone is not that of the person who has the phone now. */
        post: operations["userStartOver"];
    };
    "/user/number_claim": {
        /** Returns the claim of the user's phone by another person, if there is one. */
        post: operations["userNumberClaim"];
    };
    "/user/keep_number": {
        /** Ends the claim of the user's phone. */
        post: operations["userKeepNumber"];
    };
    "/user/export": {
        /** Returns all data of the user, except passwords, tokens and codes. */
        post: operations["userExport"];
    };
    "/user/set_findable": {
        /** Sets whether users who are not friends find the user by phone. */
        post: operations["userSetFindable"];
    };
    "/user/blacklist": {
        /** Returns the user's blacklist, the newest entry first. */
        post: operations["userBlacklist"];
    };
    "/user/add_to_blacklist": {
        /** Adds a user to the caller's blacklist. */
        post: operations["userAddToBlacklist"];
    };
    "/user/remove_from_blacklist": {
        /** Removes a user from the caller's blacklist. */
        post: operations["userRemoveFromBlacklist"];
    };
    "/friendship/invite": {
        /** Asks a user to be friends, or makes them friends if the other has already asked. */
        post: operations["friendshipInvite"];
    };
    "/friendship/agree": {
        /** Agrees to a request to be friends. */
        post: operations["friendshipAgree"];
    };
    "/friendship/ignore": {
        /** Ignores a request, without telling the other user. */
        post: operations["friendshipIgnore"];
    };
    "/friendship/withdraw": {
        /** Withdraws the user's own unanswered request. */
        post: operations["friendshipWithdraw"];
    };
    "/friendship/delete": {
        /** Ends a friendship, or a received request, on the user's own side. */
        post: operations["friendshipDelete"];
    };
    "/friendship/set_display_name": {
        /** Gives a friend a name that only the user sees. */
        post: operations["friendshipSetDisplayName"];
    };
    "/friendship/all": {
        /** Returns the user's friends and requests, the latest change first. */
        post: operations["friendshipAll"];
    };
    "/friendship/{friendId}/profile": {
        /** Returns a friend, and the name that the user has given. */
        post: operations["friendshipByFriendIdProfile"];
    };
    "/group/add": {
        /** Adds users to a group. */
        post: operations["groupAdd"];
    };
    "/group/join": {
        /** Joins a group. */
        post: operations["groupJoin"];
    };
    "/group/quit": {
        /** Quits a group. */
        post: operations["groupQuit"];
    };
    "/group/kick": {
        /** Removes members from a group. */
        post: operations["groupKick"];
    };
    "/group/dismiss": {
        /** Dismisses a group, for all its members. */
        post: operations["groupDismiss"];
    };
    "/group/transfer": {
        /** Makes another member the creator. */
        post: operations["groupTransfer"];
    };
    "/group/set_manager": {
        /** Makes members managers. */
        post: operations["groupSetManager"];
    };
    "/group/remove_manager": {
        /** Makes managers plain members again. */
        post: operations["groupRemoveManager"];
    };
    "/user/groups": {
        /** Returns the groups that the user is a member of. */
        post: operations["userGroups"];
    };
    "/group/create": {
        /** Creates a group, with the user as its creator. */
        post: operations["groupCreate"];
    };
    "/group/rename": {
        /** Gives a group another name. */
        post: operations["groupRename"];
    };
    "/group/set_portrait_uri": {
        /** Changes the address of a group's portrait. */
        post: operations["groupSetPortraitUri"];
    };
    "/group/set_bulletin": {
        /** Changes a group's bulletin. */
        post: operations["groupSetBulletin"];
    };
    "/group/set_display_name": {
        /** Changes the user's name in a group. */
        post: operations["groupSetDisplayName"];
    };
    "/group/{id}": {
        /** Returns a group of the user, or one that was dismissed while the user was a member. */
        post: operations["groupById"];
    };
    "/group/{id}/members": {
        /** Returns the members of a group of the user, in the order of their ids. */
        post: operations["groupByIdMembers"];
    };
    "/user/sync/{version}": {
        /** Returns all of the user's data that has changed since a version. */
        post: operations["userSyncByVersion"];
    };
    "/user/get_token": {
        /** Returns a token for the messaging server, or for another service. */
        post: operations["userGetToken"];
    };
    "/user/get_image_token": {
        /** Returns a token for uploading images, and the address of stored images. */
        post: operations["userGetImageToken"];
    };
    "/user/find/{region}/{phone}": {
        /** Returns the user with a phone. */
        post: operations["userFindByRegionAndPhone"];
    };
    "/user/batch": {
        /** Returns the users with these ids, in this order, except closed accounts. */
        post: operations["userBatch"];
    };
    "/user/{id}": {
        /** Returns the user with an id. */
        post: operations["userById"];
    };
    "/files": {
        /** Uploads an image, with the protocol of Qiniu. */
        post: operations["uploadImage"];
    };
    "/files/{userId}/{name}": {
        /** An image that was uploaded here. */
        get: operations["image"];
    };
    "/captcha/{id}.png": {
        /** The picture of a captcha, once get_sms_img_code has made it. */
        get: operations["captchaPicture"];
    };
    "/captcha/widget": {
        /** A page with a provider's captcha, for a web view. */
        get: operations["captchaWidget"];
    };
    "/captcha/challenge": {
        /** A new challenge for a proof of work, as ALTCHA's widget takes it. */
        get: operations["captchaChallenge"];
    };
    "/user/changes": {
        /** Tells a browser, as server-sent events, that there is something to synchronise. */
        get: operations["changes"];
    };
    "/.well-known/jwks.json": {
        /** The keys with which messaging servers, and other services, check tokens. */
        get: operations["jwks"];
    };
    "/healthz": {
        /** Tells whether the process is running. */
        get: operations["healthz"];
    };
    "/readyz": {
        /** Tells whether requests should be sent to this instance. */
        get: operations["readyz"];
    };
    "/openapi.json": {
        /** This document. */
        get: operations["openApi"];
    };
    "/openapi-3.0.json": {
        /** This document in OpenAPI 3.0. */
        get: operations["openApi30"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The phone to send a code to, and a solved captcha if one is required. */
        CodeToSend: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /** @description From get_sms_img_code, at most 64 bytes. */
            verifyId?: string;
            /** @description The text of the picture, as the user reads it, the token of the page, or the payload of ALTCHA. At most 8,192 bytes. */
            verifyCode?: string;
            channel?: components["schemas"]["Channel"];
            /** @description Tag of the language of the message. One that there is not is passed over for `Accept-Language`. */
            language?: string;
            /**
             * @description System that reads the code out of the message. A page need not say so.
             * @enum {string}
             */
            client?: "android" | "ios" | "web";
        };
        /** @description An international dialling code. */
        Region: number | string;
        /** @description As it is dialled in the region: 07911… and 7911… in 44 are one phone. */
        PhoneNumber: number | string;
        /**
         * @description How the code is sent. `X-Channel` of the answer says which was used.
         * @enum {string}
         */
        Channel: "sms" | "voice" | "whatsapp" | "telegram";
        /** @description A phone and the code that was sent to it. */
        CodeToVerify: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /** @description The 6 digits of the SMS. */
            code: string;
        };
        /** @description A phone. */
        Phone: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
        };
        /** @description A new account. */
        Registration: {
            /** @description The name that others see: 1 to 32 bytes of UTF-8. No control characters, and no bidirectional overrides. */
            nickname: string;
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description A phone and the password of its account. */
        Credentials: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
        };
        /** @description The proof of a phone, in place of its password. */
        TokenLogin: {
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description A new account without a password. */
        TokenRegistration: {
            /** @description The name that others see: 1 to 32 bytes of UTF-8. No control characters, and no bidirectional overrides. */
            nickname: string;
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description A new password, with the proof that the phone is the user's. */
        PasswordReset: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description The password, with a fresh proof that the account's phone is the user's. */
        FirstPassword: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description The current password, and the new one. */
        PasswordChange: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            oldPassword: string;
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            newPassword: string;
        };
        /** @description A session of the user. */
        SessionToEnd: {
            /** @description The id of a session. It is not the value of its cookie. */
            id: string;
        };
        /** @description The new nickname. */
        NewNickname: {
            /** @description The name that others see: 1 to 32 bytes of UTF-8. No control characters, and no bidirectional overrides. */
            nickname: string;
        };
        /** @description The address of the new portrait. */
        NewPortrait: {
            /**
             * Format: uri
             * @description An absolute http or https address of at most 1,024 bytes, with :// once.
             */
            portraitUri: string;
        };
        /** @description The password of the account. */
        OwnPassword: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
        };
        /** @description The verification token of the new phone, and the password of the account. */
        PhoneToChange: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description The proof that the phone is in the hands of the caller. */
        NumberToStartOver: {
            /** @description From verify_code. */
            verification_token: string;
        };
        /** @description Whether the user can be found by phone. */
        Findability: {
            /** @description False: only friends find the user by phone. */
            findable: boolean;
        };
        /** @description A user. */
        OneUser: {
            /** @description The id of another user. */
            friendId: string;
        };
        /** @description A user to ask, with a message. */
        Invitation: {
            /** @description The id of another user. */
            friendId: string;
            /** @description Up to 64 characters. Default: empty. No control characters, and no bidirectional overrides. */
            message?: string;
        };
        /** @description A friend, or a user who asked to be one. */
        OneFriend: {
            /** @description The id of another user. */
            friendId: string;
        };
        /** @description The user's name for a friend. */
        NewFriendName: {
            /** @description The id of another user. */
            friendId: string;
            /** @description Up to 32 characters; empty for none. No control characters, and no bidirectional overrides. */
            displayName: string;
        };
        /** @description A group and some of its members. */
        SomeMembers: {
            /** @description The id of a group. */
            groupId: string;
            /** @description The ids of users. */
            memberIds: string[];
        };
        /** @description A group. */
        OneGroup: {
            /** @description The id of a group. */
            groupId: string;
        };
        /** @description A group and one of its members. */
        OneMember: {
            /** @description The id of a group. */
            groupId: string;
            /** @description The id of another user. */
            userId: string;
        };
        /** @description A group to create. */
        GroupToCreate: {
            /** @description The name of the group: 1 to 32 characters. No control characters, and no bidirectional overrides. */
            name: string;
            /** @description The ids of users. */
            memberIds: string[];
            /** @description An absolute http or https address of at most 1,024 bytes, with :// once; an empty one removes it. */
            portraitUri?: string;
        };
        /** @description The new name of a group. */
        NewGroupName: {
            /** @description The id of a group. */
            groupId: string;
            /** @description The name of the group: 1 to 32 characters. No control characters, and no bidirectional overrides. */
            name: string;
        };
        /** @description The new portrait of a group. */
        NewGroupPortrait: {
            /** @description The id of a group. */
            groupId: string;
            /** @description An absolute http or https address of at most 1,024 bytes, with :// once; an empty one removes it. */
            portraitUri: string;
        };
        /** @description The new bulletin of a group. */
        NewBulletin: {
            /** @description The id of a group. */
            groupId: string;
            /** @description Up to 1024 characters. No control characters but line breaks, and no bidirectional overrides. */
            bulletin: string;
        };
        /** @description The user's name in a group. */
        NewDisplayName: {
            /** @description The id of a group. */
            groupId: string;
            /** @description Up to 32 characters. No control characters, and no bidirectional overrides. */
            displayName: string;
        };
        /** @description Options of the answer. */
        SyncOptions: {
            /** @description With true, rows of blacklist and friends also have `user`. False has no effect. */
            names?: boolean;
            /** @description Seconds for which an answer without changes waits for one. Without it, answers come at once. */
            wait?: number;
        };
        /** @description The service that the token is for. */
        TokenOptions: {
            /** @description A service that the operator lists in `TOKEN_AUDIENCES`. Default: the messaging server. */
            audience?: string;
        };
        /** @description The users to read. */
        UserIds: {
            /** @description The ids. The answer has their order. */
            ids: string[];
        };
        /** @description The form of an upload. */
        ImageForm: {
            /** @description From get_image_token. */
            token: string;
            /** @description Default: the hash of the image. */
            key?: string;
            /** @description CRC-32 of the file, as a decimal number. */
            crc32?: string;
            /**
             * Format: binary
             * @description PNG, JPEG, GIF or WebP.
             */
            file: string;
        };
        /** @description The answers of /user/send_code with HTTP 200. The field code tells them apart. */
        UserSendCodeAnswer: components["schemas"]["Done"] | components["schemas"]["ReturnCode5000"];
        /** @description Success, without a result. */
        Done: {
            code: components["schemas"]["Code200"];
        };
        /**
         * @description Success.
         * @enum {integer}
         */
        Code200: 200;
        /** @description Only a return code. The header X-Reason has the reason. */
        ReturnCode5000: {
            code: components["schemas"]["Code5000"];
        };
        /**
         * @description The return code.
         * @enum {integer}
         */
        Code5000: 5000;
        /** @description A field at fault. */
        FieldProblem: {
            /** @description The path of the field. */
            path: string;
            /** @description An explanation for developers. */
            message: string;
        };
        /** @description The answers of /user/verify_code with HTTP 200. The field code tells them apart. */
        UserVerifyCodeAnswer: components["schemas"]["UserVerifyCodeSuccess"] | components["schemas"]["ReturnCode1000"] | components["schemas"]["ReturnCode2000"];
        /** @description The answer of /user/verify_code when it was successful. */
        UserVerifyCodeSuccess: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["VerificationToken"];
        };
        /** @description The proof that the phone is the user's. */
        VerificationToken: {
            /** @description Valid for 30 minutes, once. */
            verification_token: string;
        };
        /** @description Only a return code. The header X-Reason has the reason. */
        ReturnCode1000: {
            code: components["schemas"]["Code1000"];
        };
        /**
         * @description The return code.
         * @enum {integer}
         */
        Code1000: 1000;
        /** @description Only a return code. The header X-Reason has the reason. */
        ReturnCode2000: {
            code: components["schemas"]["Code2000"];
        };
        /**
         * @description The return code.
         * @enum {integer}
         */
        Code2000: 2000;
        /** @description The answer of /user/check_phone_available when it was successful. */
        UserCheckPhoneAvailableAnswer: {
            code: components["schemas"]["Code200"];
            /** @description Whether the phone may be registered. */
            result: boolean;
        };
        /** @description The answer of /user/get_sms_img_code when it was successful. */
        UserGetSmsImgCodeAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["Captcha"];
        };
        /** @description A captcha to show to the user. */
        Captcha: {
            /**
             * Format: uri
             * @description A picture if it ends in `.png`, a challenge of ALTCHA if it ends in `/challenge`, else a page to show in a web view.
             */
            url: string;
            /** @description Send it to send_code, with the solution as `verifyCode`. */
            verifyId: string;
        };
        /** @description The answer of /user/register when it was successful. */
        UserRegisterAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["NewAccount"];
        };
        /** @description The new account. */
        NewAccount: {
            /** @description The id of a user. */
            id: string;
        };
        /** @description The answers of /user/login with HTTP 200. The field code tells them apart. */
        UserLoginAnswer: components["schemas"]["UserLoginSuccess"] | components["schemas"]["ReturnCode1000"];
        /** @description The answer of /user/login when it was successful. */
        UserLoginSuccess: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["MessagingToken"];
        };
        /** @description The user, and a token for the messaging server. */
        MessagingToken: {
            /** @description The id of a user. */
            id: string;
            /** @description For the messaging server, or for the service that get_token was asked for. */
            token: string;
        };
        /** @description The answer of /user/login_by_token when it was successful. */
        UserLoginByTokenAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["MessagingToken"];
        };
        /** @description The answer of /user/register_by_token when it was successful. */
        UserRegisterByTokenAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["MessagingToken"];
        };
        /** @description The answer of /user/sessions when it was successful. */
        UserSessionsAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["Session"][];
        };
        /** @description A place where the account is signed in. */
        Session: {
            /** @description The id of a session. It is not the value of its cookie. */
            id: string;
            /**
             * Format: date-time
             * @description UTC.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Time of the last renewal by use. UTC.
             */
            renewedAt: string;
            /** @description The address at login. */
            ip: string;
            /** @description The client at login, as it calls itself. */
            userAgent: string;
            /** @description Whether it is the session of this request. */
            current: boolean;
        };
        /** @description The answer of /user/sessions/check when it was successful. */
        UserSessionsCheckAnswer: {
            code: components["schemas"]["Code200"];
            /** @description Whether a user is signed in. */
            result: boolean;
        };
        /** @description The answer of /user/start_over when it was successful. */
        UserStartOverAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["StartedOver"];
        };
        /** @description Whether the number is free now. */
        StartedOver: {
            /**
             * @description free: register with the same token. claimed: the owner has until `due` to keep the number.
             * @enum {string}
             */
            state: "free" | "claimed";
            /**
             * Format: date-time
             * @description From then on start_over with a new proof closes the account.
             */
            due?: string;
        };
        /** @description The answer of /user/number_claim when it was successful. */
        UserNumberClaimAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["OwnNumberClaim"];
        };
        /** @description The claim of the user's number. Empty if there is none. */
        OwnNumberClaim: {
            /**
             * Format: date-time
             * @description When the claim began.
             */
            claimedAt?: string;
            /**
             * Format: date-time
             * @description From then on start_over with a new proof closes the account.
             */
            due?: string;
        };
        /** @description The answer of /user/export when it was successful. */
        UserExportAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["KeptData"];
        };
        /** @description All that the service keeps about the user. */
        KeptData: {
            user: components["schemas"]["KeptUser"];
            /** @description The phones of the account. */
            phones: components["schemas"]["KeptPhone"][];
            /** @description Open claims of the phones. */
            numberClaims: components["schemas"]["KeptNumberClaim"][];
            /** @description The sessions of the account, the newest first. */
            sessions: components["schemas"]["Session"][];
            /** @description Images that the user uploaded to this service. */
            images: components["schemas"]["KeptImage"][];
            /** @description The blacklist, including ended entries. */
            blacklist: components["schemas"]["KeptBlacklistEntry"][];
            /** @description Friends and requests, including ended ones. */
            friendships: components["schemas"]["KeptFriendship"][];
            /** @description Groups that the user is or was in. */
            memberships: components["schemas"]["KeptMembership"][];
            /** @description Events of the account, the oldest first. */
            securityEvents: components["schemas"]["SecurityEvent"][];
        };
        /** @description The account. */
        KeptUser: {
            /** @description The id of a user. */
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            /** @description Whether users who are not friends can find it by phone. */
            findable: boolean;
            /**
             * Format: date-time
             * @description UTC.
             */
            createdAt: string;
        };
        /** @description A phone of the account. */
        KeptPhone: {
            /** @description The number, in E.164. */
            phone: string;
            /** @description Its dialling code. */
            region: string;
            /** @description The language of messages to it; empty: the default. */
            language: string;
        };
        /** @description An open claim of a phone by a person who has proved it. */
        KeptNumberClaim: {
            /** @description The number, in E.164. */
            phone: string;
            /**
             * Format: date-time
             * @description UTC.
             */
            claimedAt: string;
            /**
             * Format: date-time
             * @description From then on the account may be closed.
             */
            due: string;
        };
        /** @description An image that the user uploaded. */
        KeptImage: {
            /** @description Its name: `<domain>/<key>` is its address. */
            key: string;
            /**
             * Format: int64
             * @description The size of its file.
             */
            bytes: number;
        };
        /** @description An entry of the blacklist. */
        KeptBlacklistEntry: {
            /** @description The id of another user. */
            friendId: string;
            /** @description False if the entry has ended. */
            status: boolean;
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        /** @description The user's side of a friendship or a request. */
        KeptFriendship: {
            /** @description The id of another user. */
            friendId: string;
            /** @description The user's name for the friend. */
            displayName: string;
            /** @description The message of the request, until it is answered. */
            message: string;
            status: components["schemas"]["FriendStatus"];
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        /**
         * @description 10: requested by me. 11: requested of me. 20: friends. 21: ignored. 30: deleted.
         * @enum {integer}
         */
        FriendStatus: 10 | 11 | 20 | 21 | 30;
        /** @description A membership of the user. */
        KeptMembership: {
            /** @description The id of a group. */
            groupId: string;
            /** @description The name of the group. */
            groupName: string;
            /** @description The user's name in the group. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /** @description Whether the membership has ended. */
            isDeleted: boolean;
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        /**
         * @description 0: creator. 1: member. 2: manager.
         * @enum {integer}
         */
        GroupRole: 0 | 1 | 2;
        /** @description An event of the account, such as a login. */
        SecurityEvent: {
            /**
             * Format: date-time
             * @description UTC.
             */
            at: string;
            /** @description The kind of event. */
            event: string;
            /** @description In E.164; empty if the event is not about a phone. */
            phone: string;
            /** @description The address of the client; empty before the last password reset. */
            ip: string;
            /** @description The client, as it calls itself; empty before the last password reset. */
            userAgent: string;
            /** @description Further details. */
            detail: string;
        };
        /** @description The answer of /user/blacklist when it was successful. */
        UserBlacklistAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["BlacklistEntry"][];
        };
        /** @description A user on the blacklist. */
        BlacklistEntry: {
            /** @description The id of another user. */
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        /** @description The answer of /friendship/invite when it was successful. */
        FriendshipInviteAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["InvitationOutcome"];
        };
        /** @description The result of the invitation. */
        InvitationOutcome: {
            action: components["schemas"]["InvitationAction"];
        };
        /**
         * @description `Sent`: the other user is asked. `Added`: they are friends now. `None`: nothing has changed.
         * @enum {string}
         */
        InvitationAction: "Sent" | "Added" | "None";
        /** @description The answer of /friendship/all when it was successful. */
        FriendshipAllAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["Friendship"][];
        };
        /** @description The user's side of a friendship or a request. */
        Friendship: {
            /** @description The user's name for the friend; empty if there is none. */
            displayName: string;
            user: components["schemas"]["Person"];
            /** @description The message of the request, until it is answered. */
            message: string;
            status: components["schemas"]["FriendStatus"];
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        /** @description Another user. */
        Person: {
            /** @description The id of another user. */
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        /** @description The answer of /friendship/:friendId/profile when it was successful. */
        FriendshipByFriendIdProfileAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["Friend"];
        };
        /** @description A friend. */
        Friend: {
            /** @description The user's name for the friend; empty if there is none. */
            displayName: string;
            user: components["schemas"]["Person"];
        };
        /** @description The answers of /group/join with HTTP 200. The field code tells them apart. */
        GroupJoinAnswer: components["schemas"]["Done"] | components["schemas"]["ReturnCode1000"];
        /** @description The answer of /user/groups when it was successful. */
        UserGroupsAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["Group"][];
        };
        /** @description A group. */
        Group: {
            /** @description The id of a group. */
            id: string;
            /** @description The name of the group. */
            name: string;
            /** @description An http or https address; empty if there is none. */
            portraitUri: string;
            /** @description The id of the creator. */
            creatorId: string;
            /** @description Number of members. */
            memberCount: number;
        };
        /** @description The answers of /group/create with HTTP 200. The field code tells them apart. */
        GroupCreateAnswer: components["schemas"]["GroupCreateSuccess"] | components["schemas"]["ReturnCode1000"];
        /** @description The answer of /group/create when it was successful. */
        GroupCreateSuccess: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["NewGroupId"];
        };
        /** @description The new group. */
        NewGroupId: {
            /** @description The id of a group. */
            id: string;
        };
        /** @description The answer of /group/:id when it was successful. */
        GroupByIdAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["GroupDetail"];
        };
        /** @description A group, with all that members see of it. */
        GroupDetail: {
            /** @description The id of a group. */
            id: string;
            /** @description The name of the group. */
            name: string;
            /** @description An http or https address; empty if there is none. */
            portraitUri: string;
            /** @description The id of the creator. */
            creatorId: string;
            /** @description Number of members. */
            memberCount: number;
            /** @description Maximum number of members. */
            maxMemberCount: number;
            /** @description A text for all members; empty if there is none. */
            bulletin: string;
            /**
             * Format: date-time
             * @description Null if there was never a bulletin.
             */
            bulletinUpdatedAt: string | null;
            /**
             * Format: date-time
             * @description Null until the group is dismissed.
             */
            dismissedAt: string | null;
        };
        /** @description The answer of /group/:id/members when it was successful. */
        GroupByIdMembersAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["GroupMember"][];
        };
        /** @description A member of a group. */
        GroupMember: {
            /** @description The member's name in the group; empty if there is none. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /**
             * Format: date-time
             * @description UTC.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
            user: components["schemas"]["Person"];
        };
        /** @description The answer of /user/sync/:version when it was successful. */
        UserSyncByVersionAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["SyncChanges"];
        };
        /** @description All that has changed since the version that was sent. */
        SyncChanges: {
            /**
             * Format: int64
             * @description Send it with the next call, as it is. It looks like a time, but is not one.
             */
            version: number;
            user: components["schemas"]["SyncUser"];
            /** @description Changed entries of the blacklist, by `friendId`. */
            blacklist: components["schemas"]["SyncBlacklistEntry"][];
            /** @description Changed friends and requests, by `friendId`. */
            friends: components["schemas"]["SyncFriend"][];
            /** @description Changed memberships of the user, by `group.id`. */
            groups: components["schemas"]["SyncMembership"][];
            /** @description Changed members, by `groupId` and `memberId`. */
            group_members: components["schemas"]["SyncMember"][];
        };
        /** @description The user, changed or not. */
        SyncUser: {
            /** @description The id of a user. */
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            /**
             * Format: int64
             * @description The version of the row. Clients do not need it.
             */
            timestamp: number;
        };
        /** @description A row of the blacklist. */
        SyncBlacklistEntry: {
            user?: components["schemas"]["Names"];
            /** @description The id of another user. */
            friendId: string;
            /** @description False if the entry has ended: remove it. */
            status: boolean;
            /**
             * Format: int64
             * @description The version of the row. Clients do not need it.
             */
            timestamp: number;
        };
        /** @description How another user is called and looks. Empty for a closed account. */
        Names: {
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        /** @description A row of the friends and requests. */
        SyncFriend: {
            user?: components["schemas"]["Names"];
            /** @description The id of another user. */
            friendId: string;
            /** @description Empty if there is none. */
            displayName: string;
            status: components["schemas"]["FriendStatus"];
            /**
             * Format: int64
             * @description The version of the row. Clients do not need it.
             */
            timestamp: number;
        };
        /** @description A membership of the user. */
        SyncMembership: {
            /** @description The member's name in the group; empty if there is none. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /** @description The membership has ended: remove it. */
            isDeleted: boolean;
            group: components["schemas"]["SyncGroup"];
        };
        /** @description The group of a membership. */
        SyncGroup: {
            /** @description The id of a group. */
            id: string;
            /** @description The name of the group. */
            name: string;
            /** @description An http or https address; empty if there is none. */
            portraitUri: string;
            /**
             * Format: int64
             * @description The version of the row. Clients do not need it.
             */
            timestamp: number;
        };
        /** @description A member of a group of the user, or the user. */
        SyncMember: {
            /** @description The id of a group. */
            groupId: string;
            /** @description The id of another user. */
            memberId: string;
            /** @description The member's name in the group; empty if there is none. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /** @description The membership has ended: remove it. */
            isDeleted: boolean;
            /**
             * Format: int64
             * @description The version of the row. Clients do not need it.
             */
            timestamp: number;
            user: components["schemas"]["Names"];
        };
        /** @description The answer of /user/get_token when it was successful. */
        UserGetTokenAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["MessagingToken"];
        };
        /** @description The answer of /user/get_image_token when it was successful. */
        UserGetImageTokenAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["ImageToken"];
        };
        /** @description The target of an upload, and the token that allows it. */
        ImageToken: {
            /** @description The storage of images: `local` or `qiniu`. */
            target: string;
            /** @description An image is at `<domain>/<key>`. With `qiniu` it may be a bare host name. */
            domain: string;
            /** @description For uploads, valid for ten minutes. */
            token: string;
        };
        /** @description The answer of /user/find/:region/:phone when it was successful. */
        UserFindByRegionAndPhoneAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["Profile"];
        };
        /** @description The fields that users see of each other. */
        Profile: {
            /** @description The id of a user. */
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        /** @description The answer of /user/batch when it was successful. */
        UserBatchAnswer: {
            code: components["schemas"]["Code200"];
            /** @description The rows. */
            result: components["schemas"]["Profile"][];
        };
        /** @description The answer of /user/:id when it was successful. */
        UserByIdAnswer: {
            code: components["schemas"]["Code200"];
            result: components["schemas"]["Profile"];
        };
        /** @description The image is at `<domain>/<key>`. */
        StoredImage: {
            /** @description Qiniu's hash of the file as it was sent. */
            hash: string;
            /** @description The name of the image: `<user id>/<name>`. */
            key: string;
        };
        /** @description A challenge of ALTCHA, version 2. */
        Challenge: {
            /** @description The work. A client sends these fields back as they are. */
            parameters: {
                /** @description How keys are derived. */
                algorithm: string;
                /** @description Rounds of PBKDF2. */
                cost: number;
                /** @description Seconds since 1970. */
                expiresAt: number;
                /** @description Bytes of a key. */
                keyLength: number;
                /** @description Hexadecimal start of the wanted key. */
                keyPrefix: string;
                /** @description For the service. */
                keySignature: string;
                /** @description Hexadecimal; the password of a key is the nonce and the counter in four bytes. */
                nonce: string;
                /** @description Hexadecimal. */
                salt: string;
            };
            /** @description For the service. */
            signature: string;
        };
        /** @description The public keys, as in RFC 7517. */
        KeySet: {
            /** @description The current signing key and, if there is one, the previous key. */
            keys: components["schemas"]["PublicKey"][];
        };
        /** @description A key that checks tokens. */
        PublicKey: {
            /** @description The kind of key. */
            kty: string;
            /** @description Its curve. */
            crv: string;
            /** @description The public key, in base64url. */
            x: string;
            /** @description Its id, as in the header of a token. */
            kid: string;
            /** @description The algorithm of signatures. */
            alg: string;
            /** @description Its use: signatures. */
            use: string;
        };
        /** @description The instance can serve. */
        Ready: {
            code: components["schemas"]["Code200"];
            /** @description Only with DATABASE_REPLICA_URL. */
            result?: {
                /**
                 * @description Whether the standby serves reads.
                 * @enum {string}
                 */
                standby: "serving" | "away" | "behind" | "not a standby";
            };
        };
    };
    responses: {
        UserSendCodeBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "captcha_missing" | "captcha_wrong" | "region_not_served" | "channel_not_served" | "not_a_mobile" | "undeliverable";
                [name: string]: unknown;
            };
        };
        CrossSite: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site";
                [name: string]: unknown;
            };
        };
        RequestTooSlow: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "request_too_slow";
                [name: string]: unknown;
            };
        };
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "body_too_large";
                [name: string]: unknown;
            };
        };
        TooEarly: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_early";
                [name: string]: unknown;
            };
        };
        TooManyChecks: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_checks";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        HeadersTooLarge: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "headers_too_large";
                [name: string]: unknown;
            };
        };
        Failed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "internal_error";
                [name: string]: unknown;
            };
        };
        BadGateway: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "bad_gateway";
                [name: string]: unknown;
            };
        };
        UserSendCodeUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "took_too_long" | "captcha_unchecked" | "sms_failed" | "sms_unconfirmed" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body";
                [name: string]: unknown;
            };
        };
        TooManyVerifications: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_verifications";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        CodeUnchecked: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "took_too_long" | "code_unchecked" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        Unavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "took_too_long" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        OnlyMalformedBody: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "malformed_body";
                [name: string]: unknown;
            };
        };
        PhoneTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "phone_taken";
                [name: string]: unknown;
            };
        };
        NoSuchToken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_token";
                [name: string]: unknown;
            };
        };
        TooManyAtOnce: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        AccountSuspended: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "account_suspended";
                [name: string]: unknown;
            };
        };
        UserLoginTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        HttpsRequired: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "internal_error" | "https_required";
                [name: string]: unknown;
            };
        };
        UserLoginByTokenBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "wrong_token" | "no_account";
                [name: string]: unknown;
            };
        };
        UserLoginByTokenForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "password_required" | "account_suspended";
                [name: string]: unknown;
            };
        };
        UserLoginByTokenTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UserRegisterByTokenForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "password_required" | "account_suspended";
                [name: string]: unknown;
            };
        };
        UserRegisterByTokenTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        NotSignedIn: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "not_signed_in";
                [name: string]: unknown;
            };
        };
        UserResetPasswordBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "wrong_token" | "no_account";
                [name: string]: unknown;
            };
        };
        UserSetPasswordBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "has_password" | "wrong_token";
                [name: string]: unknown;
            };
        };
        WrongPassword: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "wrong_password";
                [name: string]: unknown;
            };
        };
        UserChangePasswordTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        TooManyChanges: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_changes";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        PortraitHostNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "portrait_host_not_allowed";
                [name: string]: unknown;
            };
        };
        UserCloseAccountTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UserChangePhoneBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "wrong_password" | "wrong_token" | "phone_taken";
                [name: string]: unknown;
            };
        };
        UserChangePhoneTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        WrongToken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "wrong_token";
                [name: string]: unknown;
            };
        };
        UserStartOverForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "start_over_off" | "account_suspended";
                [name: string]: unknown;
            };
        };
        UserKeepNumberTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_attempts" | "too_many_at_once";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UserAddToBlacklistBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "blacklist_full";
                [name: string]: unknown;
            };
        };
        TooManyBlacklistAdds: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_blacklist_adds";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        FriendshipInviteBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "already_friends" | "too_many_friends";
                [name: string]: unknown;
            };
        };
        TooManyInvitations: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_invitations";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        TooManyFriends: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "too_many_friends";
                [name: string]: unknown;
            };
        };
        NothingRequested: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "nothing_requested";
                [name: string]: unknown;
            };
        };
        NotFriends: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "not_friends";
                [name: string]: unknown;
            };
        };
        MalformedPath: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                [name: string]: unknown;
            };
        };
        GroupAddBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "has_quit" | "member_full" | "group_full";
                [name: string]: unknown;
            };
        };
        NoSuchGroup: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_group";
                [name: string]: unknown;
            };
        };
        TooManyGroupChanges: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_group_changes";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        GroupFull: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "group_full";
                [name: string]: unknown;
            };
        };
        JoiningClosed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "joining_closed";
                [name: string]: unknown;
            };
        };
        NotYourself: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "not_yourself";
                [name: string]: unknown;
            };
        };
        RoleTooLow: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "role_too_low";
                [name: string]: unknown;
            };
        };
        NotAMember: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "not_a_member";
                [name: string]: unknown;
            };
        };
        GroupCreateBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "member_full" | "group_full" | "portrait_host_not_allowed";
                [name: string]: unknown;
            };
        };
        GroupCreateTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_new_groups" | "too_many_group_changes";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UserGetTokenBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "malformed_body" | "unknown_audience";
                [name: string]: unknown;
            };
        };
        NoSuchUser: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_user";
                [name: string]: unknown;
            };
        };
        TooManyLookups: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_lookups";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UploadImageBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "malformed_upload" | "upload_cut_off" | "not_an_image" | "image_too_complex" | "image_too_slow";
                [name: string]: unknown;
            };
        };
        UploadImageUnauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "upload_token_refused" | "upload_token_expired";
                [name: string]: unknown;
            };
        };
        UploadImageForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "cross_site" | "key_not_allowed";
                [name: string]: unknown;
            };
        };
        UploadImageNotAcceptable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "checksum_wrong";
                [name: string]: unknown;
            };
        };
        UploadImageTimedOut: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "upload_too_slow" | "request_too_slow";
                [name: string]: unknown;
            };
        };
        UploadImageTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "image_too_large";
                [name: string]: unknown;
            };
        };
        UploadImageTooEarly: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_early";
                [name: string]: unknown;
            };
        };
        UploadImageTooMany: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_uploads" | "image_space_full";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UploadImageHeadersTooLarge: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "headers_too_large";
                [name: string]: unknown;
            };
        };
        UploadImageFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "internal_error";
                [name: string]: unknown;
            };
        };
        UploadImageBadGateway: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "bad_gateway";
                [name: string]: unknown;
            };
        };
        UploadImageUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "uploads_busy" | "images_unavailable" | "disk_full" | "image_gone" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        UploadImageTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "key_taken";
                [name: string]: unknown;
            };
        };
        OnlyMalformedPath: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "malformed_path";
                [name: string]: unknown;
            };
        };
        NoSuchImage: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_image";
                [name: string]: unknown;
            };
        };
        ImageUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        NoSuchCaptcha: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_captcha";
                [name: string]: unknown;
            };
        };
        CaptchaPictureUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        NoSuchPath: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "no_such_path";
                [name: string]: unknown;
            };
        };
        OnlyServiceAway: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        CaptchaChallengeUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "overloaded" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        ReadyzUnavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description The reason of the refusal. */
                "X-Reason": "stopping" | "not_ready" | "overloaded" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
        TooManyDownloads: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description The reason of the refusal. */
                "X-Reason": "too_many_downloads";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The id of the request: as sent, if it has 1 to 64 letters, digits, `.`, `_` and `-`, else a new one. */
        RequestId: string;
        /** @description Seconds to wait. */
        RetryAfter: number;
        /** @description The session, in place of its cookie, for a client that sends `X-Session: bearer`. */
        SessionToken: string;
        /** @description The device, in place of its cookie, for a client that sends `X-Session: bearer`. */
        DeviceToken: string;
        /** @description The session's renewed cookie, at most once a day. */
        RenewedSession: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    userSendCode: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeToSend"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 5000:
             *
             *     - `too_soon`: a code was sent to this phone a moment ago
             *     - `captcha_required`: sending more codes requires a solved captcha, and no right answer was sent
             *     - `daily_limit`: the daily limit of codes for this phone is reached
             *     - `address_limit`: this address has requested too many codes
             *     - `no_guesses_left`: too many wrong codes were entered for this phone, so no new code is sent
             *     - `sending_paused`: sending codes is paused, for this region or for the whole service
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Reason"?: "too_soon" | "captcha_required" | "daily_limit" | "address_limit" | "no_guesses_left" | "sending_paused";
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSendCodeAnswer"];
                };
            };
            400: components["responses"]["UserSendCodeBadRequest"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChecks"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["UserSendCodeUnavailable"];
        };
    };
    userVerifyCode: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeToVerify"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 1000:
             *
             *     - `wrong_code`: the code is wrong, or no code was sent to this phone
             *
             *     With the return code 2000:
             *
             *     - `code_expired`: the code was used or has expired
             *     - `guesses_spent`: the daily limit of wrong codes is reached
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Reason"?: "wrong_code" | "code_expired" | "guesses_spent";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserVerifyCodeAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyVerifications"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["CodeUnchecked"];
        };
    };
    userCheckPhoneAvailable: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["Phone"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserCheckPhoneAvailableAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChecks"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetSmsImgCode: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGetSmsImgCodeAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChecks"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRegister: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["Registration"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserRegisterAnswer"];
                };
            };
            400: components["responses"]["PhoneTaken"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchToken"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userLogin: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 1000:
             *
             *     - `wrong_credentials`: the phone does not have an account, or the password is wrong
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the session, then that of the device. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    "X-Reason"?: "wrong_credentials";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserLoginAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["AccountSuspended"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserLoginTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["HttpsRequired"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userLoginByToken: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenLogin"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the session, then that of the device. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserLoginByTokenAnswer"];
                };
            };
            400: components["responses"]["UserLoginByTokenBadRequest"];
            403: components["responses"]["UserLoginByTokenForbidden"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserLoginByTokenTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["HttpsRequired"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRegisterByToken: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRegistration"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the session, then that of the device. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserRegisterByTokenAnswer"];
                };
            };
            400: components["responses"]["PhoneTaken"];
            403: components["responses"]["UserRegisterByTokenForbidden"];
            404: components["responses"]["NoSuchToken"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserRegisterByTokenTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["HttpsRequired"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userLogout: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Removes the cookie of the session. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userResetPassword: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["UserResetPasswordBadRequest"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetPassword: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirstPassword"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the device, if the request had one. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["UserSetPasswordBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userChangePassword: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the device, if the request had one. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["WrongPassword"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserChangePasswordTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSessions: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSessionsAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSessionsCheck: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSessionsCheckAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userEndSession: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionToEnd"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetNickname: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNickname"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetPortraitUri: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPortrait"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["PortraitHostNotAllowed"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRemovePortrait: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userCloseAccount: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnPassword"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Removes the cookie of the session. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["WrongPassword"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserCloseAccountTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userChangePhone: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PhoneToChange"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The cookie of the device, if the request had one. */
                    "Set-Cookie"?: string;
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Device-Token": components["headers"]["DeviceToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["UserChangePhoneBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserChangePhoneTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userStartOver: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NumberToStartOver"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserStartOverAnswer"];
                };
            };
            400: components["responses"]["WrongToken"];
            403: components["responses"]["UserStartOverForbidden"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userNumberClaim: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNumberClaimAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userKeepNumber: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnPassword"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["WrongPassword"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["UserKeepNumberTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userExport: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserExportAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetFindable: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["Findability"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userBlacklist: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserBlacklistAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userAddToBlacklist: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneUser"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["UserAddToBlacklistBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyBlacklistAdds"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRemoveFromBlacklist: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneUser"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipInvite: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["Invitation"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipInviteAnswer"];
                };
            };
            400: components["responses"]["FriendshipInviteBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyInvitations"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipAgree: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneFriend"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["TooManyFriends"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NothingRequested"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipIgnore: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneFriend"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NothingRequested"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipWithdraw: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneFriend"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NothingRequested"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipDelete: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneFriend"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NotFriends"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipSetDisplayName: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFriendName"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NotFriends"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipAll: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipAllAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipByFriendIdProfile: {
        parameters: {
            path: {
                /** @description The id of another user. */
                friendId: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipByFriendIdProfileAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NotFriends"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupAdd: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SomeMembers"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["GroupAddBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupJoin: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneGroup"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 1000:
             *
             *     - `too_many_memberships`: the user is in as many groups as allowed
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Reason"?: "too_many_memberships";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupJoinAnswer"];
                };
            };
            400: components["responses"]["GroupFull"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["JoiningClosed"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupQuit: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneGroup"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupKick: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SomeMembers"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["NotYourself"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupDismiss: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneGroup"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupTransfer: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneMember"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["NotAMember"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetManager: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SomeMembers"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["NotAMember"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupRemoveManager: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SomeMembers"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGroups: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGroupsAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupCreate: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupToCreate"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 1000:
             *
             *     - `too_many_groups`: the user has created as many groups as allowed
             *     - `too_many_memberships`: the user is in as many groups as allowed
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    "X-Reason"?: "too_many_groups" | "too_many_memberships";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupCreateAnswer"];
                };
            };
            400: components["responses"]["GroupCreateBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["GroupCreateTooMany"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupRename: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGroupName"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetPortraitUri: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGroupPortrait"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["PortraitHostNotAllowed"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetBulletin: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBulletin"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["RoleTooLow"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetDisplayName: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDisplayName"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyGroupChanges"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupById: {
        parameters: {
            path: {
                /** @description The id of a group. */
                id: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupByIdAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupByIdMembers: {
        parameters: {
            path: {
                /** @description The id of a group. */
                id: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupByIdMembersAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchGroup"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSyncByVersion: {
        parameters: {
            path: {
                version: number;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SyncOptions"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSyncByVersionAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetToken: {
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TokenOptions"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGetTokenAnswer"];
                };
            };
            400: components["responses"]["UserGetTokenBadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetImageToken: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGetImageTokenAnswer"];
                };
            };
            400: components["responses"]["OnlyMalformedBody"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userFindByRegionAndPhone: {
        parameters: {
            path: {
                /** @description An international dialling code. */
                region: string;
                /** @description As it is dialled in the region: 07911… and 7911… in 44 are one phone. */
                phone: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserFindByRegionAndPhoneAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchUser"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyLookups"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userBatch: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserIds"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserBatchAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userById: {
        parameters: {
            path: {
                /** @description The id of another user. */
                id: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Session-Token": components["headers"]["SessionToken"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserByIdAnswer"];
                };
            };
            400: components["responses"]["MalformedPath"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["NoSuchUser"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadImage: {
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["ImageForm"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredImage"];
                };
            };
            /** @description With the storage `qiniu`, or `IMAGES` at an address: send the form to this address. */
            307: {
                headers: {
                    [name: string]: unknown;
                };
            };
            400: components["responses"]["UploadImageBadRequest"];
            401: components["responses"]["UploadImageUnauthorized"];
            403: components["responses"]["UploadImageForbidden"];
            406: components["responses"]["UploadImageNotAcceptable"];
            408: components["responses"]["UploadImageTimedOut"];
            413: components["responses"]["UploadImageTooLarge"];
            425: components["responses"]["UploadImageTooEarly"];
            429: components["responses"]["UploadImageTooMany"];
            431: components["responses"]["UploadImageHeadersTooLarge"];
            500: components["responses"]["UploadImageFailed"];
            502: components["responses"]["UploadImageBadGateway"];
            503: components["responses"]["UploadImageUnavailable"];
            default: components["responses"]["UploadImageTaken"];
        };
    };
    image: {
        parameters: {
            path: {
                userId: string;
                name: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "image/*": string;
                };
            };
            /** @description With `IMAGES` at an address: the address of the image. */
            307: {
                headers: {
                    [name: string]: unknown;
                };
            };
            400: components["responses"]["OnlyMalformedPath"];
            404: components["responses"]["NoSuchImage"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ImageUnavailable"];
        };
    };
    captchaPicture: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
            400: components["responses"]["OnlyMalformedPath"];
            404: components["responses"]["NoSuchCaptcha"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["CaptchaPictureUnavailable"];
        };
    };
    captchaWidget: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            404: components["responses"]["NoSuchPath"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
    captchaChallenge: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Challenge"];
                };
            };
            404: components["responses"]["NoSuchPath"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["CaptchaChallengeUnavailable"];
        };
    };
    changes: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyAtOnce"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
    jwks: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeySet"];
                };
            };
            404: components["responses"]["NoSuchPath"];
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
    healthz: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
    readyz: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ReadyzUnavailable"];
        };
    };
    openApi: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyDownloads"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
    openApi30: {
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            408: components["responses"]["RequestTooSlow"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyDownloads"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["OnlyServiceAway"];
        };
    };
}
