// Made of docs/openapi.json by npm run types: not to be changed by hand.
// SHA-256 of the document: be129cdd18d5bbafad254c8b7d18b40e4009b866e790ab7801ebc40a3994ef07

export interface paths {
    "/user/send_code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a verification code to a phone, in an SMS. */
        post: operations["userSendCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/verify_code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchanges a code for a verification token. */
        post: operations["userVerifyCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/check_phone_available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Whether no account has this phone yet. */
        post: operations["userCheckPhoneAvailable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/get_sms_img_code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a captcha, which raises the limits of send_code. */
        post: operations["userGetSmsImgCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes an account for the phone that a verification token was given for. */
        post: operations["userRegister"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begins a session, whose cookie is the first in the answer. */
        post: operations["userLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the session, and takes its cookie back. */
        post: operations["userLogout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/reset_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets a new password by a verification token, and ends all sessions. */
        post: operations["userResetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/change_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets a new password by the old one, and ends all other sessions. */
        post: operations["userChangePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Where the user is signed in, the newest session first. */
        post: operations["userSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/end_session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends one of the user's sessions. */
        post: operations["userEndSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/set_nickname": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes the user's nickname. */
        post: operations["userSetNickname"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/set_portrait_uri": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes the address of the user's portrait. */
        post: operations["userSetPortraitUri"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/remove_portrait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes the portrait of the user away. */
        post: operations["userRemovePortrait"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/close_account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Closes the account: what belongs to it ends, and its phone is free again. */
        post: operations["userCloseAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/change_phone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives the account the phone of a verification token, and ends all other sessions. */
        post: operations["userChangePhone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Everything that is kept of the user, but for what lets somebody in. */
        post: operations["userExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/set_findable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Whether others than friends find the user by the phone. */
        post: operations["userSetFindable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/blacklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The user's blacklist, the newest entry first. */
        post: operations["userBlacklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/add_to_blacklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Puts somebody on the user's blacklist. */
        post: operations["userAddToBlacklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/remove_from_blacklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes somebody off the user's blacklist. */
        post: operations["userRemoveFromBlacklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Asks somebody to be friends, or makes friends of two of whom the other has asked already. */
        post: operations["friendshipInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/agree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Agrees to be friends. */
        post: operations["friendshipAgree"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/ignore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ignores a request, without telling the other side. */
        post: operations["friendshipIgnore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a friendship on the user's own side. */
        post: operations["friendshipDelete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/set_display_name": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives a friend a name that the user alone sees. */
        post: operations["friendshipSetDisplayName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The user's friends and requests, the latest change first. */
        post: operations["friendshipAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friendship/{friendId}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A friend, and the name that the user has given. */
        post: operations["friendshipByFriendIdProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/add": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Brings others into a group. */
        post: operations["groupAdd"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes the user a member of a group. */
        post: operations["groupJoin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/quit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the membership of the user. */
        post: operations["groupQuit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/kick": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the memberships of others. */
        post: operations["groupKick"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a group for all its members. */
        post: operations["groupDismiss"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes another member the creator. */
        post: operations["groupTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/set_manager": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes members managers. */
        post: operations["groupSetManager"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/remove_manager": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes managers plain members again. */
        post: operations["groupRemoveManager"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The groups that the user is a member of. */
        post: operations["userGroups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a group, with the user as its creator. */
        post: operations["groupCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives a group another name. */
        post: operations["groupRename"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/set_portrait_uri": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes the address of a group's portrait. */
        post: operations["groupSetPortraitUri"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/set_bulletin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes a group's bulletin. */
        post: operations["groupSetBulletin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/set_display_name": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes how the user is called in a group. */
        post: operations["groupSetDisplayName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A group of the user, or one that was dismissed while the user was a member. */
        post: operations["groupById"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/group/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The members of a group of the user, in the order of their ids. */
        post: operations["groupByIdMembers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/sync/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Everything of the user that has changed since this version. */
        post: operations["userSyncByVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/get_token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A token for the messaging server. */
        post: operations["userGetToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/get_image_token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A token to upload images with, and the address of stored images. */
        post: operations["userGetImageToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/find/{region}/{phone}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The user with this phone. */
        post: operations["userFindByRegionAndPhone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The users with these ids, in their order, without those who have no open account. */
        post: operations["userBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The user with this id. */
        post: operations["userById"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes an image, as Qiniu takes one. */
        post: operations["uploadImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{userId}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An image that was uploaded here. */
        get: operations["image"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/captcha/{id}.png": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The picture of a captcha, once get_sms_img_code has made it. */
        get: operations["captchaPicture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/captcha/widget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page with a provider's captcha, for a web view. */
        get: operations["captchaWidget"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The keys by which a messaging server checks tokens. */
        get: operations["jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process lives. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether requests should be sent here. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: operations["openApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        CodeToSend: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /** @description Up to 64 bytes of UTF-8. */
            verifyId?: string;
            /** @description Up to 8192 bytes of UTF-8. */
            verifyCode?: string;
        };
        /** @description An international dialling code. */
        Region: number | string;
        /** @description As it is dialled in the region: 07911… and 7911… in 44 are one phone. */
        PhoneNumber: number | string;
        CodeToVerify: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /** @description The 6 digits of the SMS. */
            code: string;
        };
        Phone: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
        };
        Registration: {
            /** @description 1 to 32 bytes of UTF-8. */
            nickname: string;
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description 1 to 256 bytes of UTF-8. */
            verification_token: string;
        };
        Credentials: {
            region: components["schemas"]["Region"];
            phone: components["schemas"]["PhoneNumber"];
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
        };
        PasswordReset: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description 1 to 256 bytes of UTF-8. */
            verification_token: string;
        };
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
        SessionToEnd: {
            id: string;
        };
        NewNickname: {
            /** @description 1 to 32 bytes of UTF-8. */
            nickname: string;
        };
        NewPortrait: {
            /**
             * Format: uri
             * @description An absolute http or https address of at most 1,024 bytes, with :// once.
             */
            portraitUri: string;
        };
        OwnPassword: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
        };
        /** @description The token is one of the new phone, the password that of the account. */
        NewPhone: {
            /**
             * Format: password
             * @description 6 to 20 bytes of UTF-8, without white space.
             */
            password: string;
            /** @description 1 to 256 bytes of UTF-8. */
            verification_token: string;
        };
        Findability: {
            findable: boolean;
        };
        OneUser: {
            friendId: string;
        };
        Invitation: {
            friendId: string;
            /** @description Up to 64 bytes of UTF-8; empty when it is left out. */
            message?: string;
        };
        OneFriend: {
            friendId: string;
        };
        NewFriendName: {
            friendId: string;
            /** @description Up to 32 bytes of UTF-8. */
            displayName: string;
        };
        SomeMembers: {
            groupId: string;
            memberIds: string[];
        };
        OneGroup: {
            groupId: string;
        };
        OneMember: {
            groupId: string;
            userId: string;
        };
        NewGroup: {
            /** @description 2 to 32 bytes of UTF-8. */
            name: string;
            memberIds: string[];
            /** @description An absolute http or https address of at most 1,024 bytes, with :// once; empty takes it away. */
            portraitUri?: string;
        };
        NewGroupName: {
            groupId: string;
            /** @description 2 to 32 bytes of UTF-8. */
            name: string;
        };
        NewGroupPortrait: {
            groupId: string;
            /** @description An absolute http or https address of at most 1,024 bytes, with :// once; empty takes it away. */
            portraitUri: string;
        };
        NewBulletin: {
            groupId: string;
            /** @description Up to 1024 bytes of UTF-8. */
            bulletin: string;
        };
        NewDisplayName: {
            groupId: string;
            /** @description Up to 32 bytes of UTF-8. */
            displayName: string;
        };
        SyncOptions: {
            /** @description Rows of blacklist and friends then have `user` as well; nothing, where it is false. */
            names?: boolean;
        };
        UserIds: {
            ids: string[];
        };
        ImageForm: {
            /** @description From get_image_token. */
            token: string;
            /** @description Without one the image is named by its hash. */
            key?: string;
            crc32?: string;
            /**
             * Format: binary
             * @description PNG, JPEG, GIF or WebP.
             */
            file: string;
        };
        UserSendCodeAnswer: components["schemas"]["Done"] | components["schemas"]["ReturnCode5000"];
        Done: {
            /** @constant */
            code: 200;
        };
        /** @description A return code alone. The header X-Reason says why. */
        ReturnCode5000: {
            /** @constant */
            code: 5000;
        };
        /** @description Everything but HTTP 200. */
        Refusal: {
            /** @description The HTTP status again. */
            code: number;
            reason: components["schemas"]["Reason"];
            /** @description For a developer: it may change. */
            message: string;
            /** @description The fields at fault, where some are. */
            details?: components["schemas"]["FieldProblem"][];
        };
        /**
         * @description Why it is refused, for programs: these words stay. Later versions may have more.
         * @enum {string}
         */
        Reason: "invalid_input" | "malformed_body" | "malformed_path" | "not_signed_in" | "cross_site" | "no_such_path" | "method_not_allowed" | "body_too_large" | "internal_error" | "https_required" | "overloaded" | "took_too_long" | "malformed_http" | "request_too_slow" | "headers_too_large" | "bad_gateway" | "service_away" | "stopping" | "not_ready" | "wrong_code" | "code_expired" | "guesses_spent" | "too_soon" | "captcha_required" | "daily_limit" | "address_limit" | "no_guesses_left" | "sending_paused" | "captcha_missing" | "captcha_wrong" | "captcha_unchecked" | "region_not_served" | "not_a_mobile" | "undeliverable" | "sms_failed" | "sms_unconfirmed" | "too_many_checks" | "too_many_verifications" | "no_such_captcha" | "no_such_token" | "wrong_token" | "phone_taken" | "no_account" | "wrong_credentials" | "wrong_password" | "too_many_attempts" | "too_many_at_once" | "no_such_user" | "unknown_user" | "not_yourself" | "too_many_lookups" | "too_many_changes" | "portrait_host_not_allowed" | "blacklist_full" | "too_many_blacklist_adds" | "already_friends" | "not_friends" | "nothing_requested" | "too_many_friends" | "too_many_invitations" | "no_such_group" | "role_too_low" | "joining_closed" | "group_full" | "not_a_member" | "friends_only" | "new_creator_full" | "too_many_groups" | "too_many_group_changes" | "too_many_new_groups" | "upload_token_refused" | "upload_token_expired" | "key_not_allowed" | "malformed_upload" | "upload_cut_off" | "not_an_image" | "image_too_complex" | "image_too_slow" | "image_too_large" | "checksum_wrong" | "upload_too_slow" | "key_taken" | "unknown_upload" | "unknown_blocks" | "too_many_uploads" | "too_many_parts" | "too_many_incomplete" | "image_space_full" | "uploads_busy" | "images_unavailable" | "disk_full" | "image_gone" | "no_such_image";
        FieldProblem: {
            /** @description Of the field. */
            path: string;
            /** @description For a developer. */
            message: string;
        };
        UserVerifyCodeAnswer: components["schemas"]["UserVerifyCodeSuccess"] | components["schemas"]["ReturnCode1000"] | components["schemas"]["ReturnCode2000"];
        UserVerifyCodeSuccess: {
            /** @constant */
            code: 200;
            result: components["schemas"]["VerificationToken"];
        };
        VerificationToken: {
            /** @description For 30 minutes, once. */
            verification_token: string;
        };
        /** @description A return code alone. The header X-Reason says why. */
        ReturnCode1000: {
            /** @constant */
            code: 1000;
        };
        /** @description A return code alone. The header X-Reason says why. */
        ReturnCode2000: {
            /** @constant */
            code: 2000;
        };
        UserCheckPhoneAvailableAnswer: {
            /** @constant */
            code: 200;
            /** @description True: nobody has it. */
            result: boolean;
        };
        UserGetSmsImgCodeAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Captcha"];
        };
        Captcha: {
            /**
             * Format: uri
             * @description A picture where it ends in `.png`, else a page to show in a web view.
             */
            url: string;
            verifyId: string;
        };
        UserRegisterAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["NewAccount"];
        };
        NewAccount: {
            id: string;
        };
        UserLoginAnswer: components["schemas"]["UserLoginSuccess"] | components["schemas"]["ReturnCode1000"];
        UserLoginSuccess: {
            /** @constant */
            code: 200;
            result: components["schemas"]["MessagingToken"];
        };
        MessagingToken: {
            id: string;
            /** @description For the messaging server. */
            token: string;
        };
        UserSessionsAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Session"][];
        };
        Session: {
            id: string;
            /**
             * Format: date-time
             * @description UTC.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When a use last renewed it. UTC.
             */
            renewedAt: string;
            /** @description Of the login. */
            ip: string;
            /** @description Of the login. */
            userAgent: string;
            /** @description Whether it is the one that asks. */
            current: boolean;
        };
        UserExportAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["KeptData"];
        };
        KeptData: {
            user: components["schemas"]["KeptUser"];
            phones: components["schemas"]["KeptPhone"][];
            sessions: components["schemas"]["Session"][];
            images: components["schemas"]["KeptImage"][];
            blacklist: components["schemas"]["KeptBlacklistEntry"][];
            friendships: components["schemas"]["KeptFriendship"][];
            memberships: components["schemas"]["KeptMembership"][];
            securityEvents: components["schemas"]["SecurityEvent"][];
        };
        KeptUser: {
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            findable: boolean;
            /**
             * Format: date-time
             * @description UTC.
             */
            createdAt: string;
        };
        KeptPhone: {
            /** @description In E.164. */
            phone: string;
            region: string;
        };
        KeptImage: {
            key: string;
            /** Format: int64 */
            bytes: number;
        };
        KeptBlacklistEntry: {
            friendId: string;
            status: boolean;
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        KeptFriendship: {
            friendId: string;
            displayName: string;
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
        KeptMembership: {
            groupId: string;
            groupName: string;
            displayName: string;
            role: components["schemas"]["GroupRole"];
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
        SecurityEvent: {
            /**
             * Format: date-time
             * @description UTC.
             */
            at: string;
            event: string;
            phone: string;
            ip: string;
            userAgent: string;
            detail: string;
        };
        UserBlacklistAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["BlacklistEntry"][];
        };
        BlacklistEntry: {
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
        FriendshipInviteAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["InvitationOutcome"];
        };
        InvitationOutcome: {
            action: components["schemas"]["InvitationAction"];
        };
        /**
         * @description `Sent`: they are asked. `Added`: they are friends now. `None`: nothing has changed.
         * @enum {string}
         */
        InvitationAction: "Sent" | "Added" | "None";
        FriendshipAllAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Friendship"][];
        };
        Friendship: {
            /** @description Empty where there is none. */
            displayName: string;
            user: components["schemas"]["Person"];
            /** @description Of whoever asked, until that is answered. */
            message: string;
            status: components["schemas"]["FriendStatus"];
            /**
             * Format: date-time
             * @description UTC.
             */
            updatedAt: string;
        };
        Person: {
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        FriendshipByFriendIdProfileAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Friend"];
        };
        Friend: {
            /** @description Empty where there is none. */
            displayName: string;
            user: components["schemas"]["Person"];
        };
        UserGroupsAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Group"][];
        };
        Group: {
            id: string;
            name: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            creatorId: string;
            memberCount: number;
        };
        GroupCreateAnswer: components["schemas"]["GroupCreateSuccess"] | components["schemas"]["ReturnCode1000"];
        GroupCreateSuccess: {
            /** @constant */
            code: 200;
            result: components["schemas"]["NewGroupId"];
        };
        NewGroupId: {
            id: string;
        };
        GroupByIdAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["GroupDetail"];
        };
        GroupDetail: {
            id: string;
            name: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            creatorId: string;
            memberCount: number;
            maxMemberCount: number;
            bulletin: string;
            /**
             * Format: date-time
             * @description Null as long as there is the group.
             */
            dismissedAt: string | null;
        };
        GroupByIdMembersAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["GroupMember"][];
        };
        GroupMember: {
            /** @description How the member is called in the group; empty where there is none. */
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
        UserSyncByVersionAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["SyncChanges"];
        };
        SyncChanges: {
            /**
             * Format: int64
             * @description Send it with the next call, as it is. It looks like a time and is none.
             */
            version: number;
            user: components["schemas"]["SyncUser"];
            blacklist: components["schemas"]["SyncBlacklistEntry"][];
            friends: components["schemas"]["SyncFriend"][];
            groups: components["schemas"]["SyncMembership"][];
            group_members: components["schemas"]["SyncMember"][];
        };
        /** @description Changed or not. */
        SyncUser: {
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            /**
             * Format: int64
             * @description The version of the row. Clients need not look at it.
             */
            timestamp: number;
        };
        SyncBlacklistEntry: {
            user?: components["schemas"]["Names"];
            friendId: string;
            /** @description False where the entry has ended: remove it. */
            status: boolean;
            /**
             * Format: int64
             * @description The version of the row. Clients need not look at it.
             */
            timestamp: number;
        };
        /** @description Empty for a closed account. */
        Names: {
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        SyncFriend: {
            user?: components["schemas"]["Names"];
            friendId: string;
            /** @description Empty where there is none. */
            displayName: string;
            status: components["schemas"]["FriendStatus"];
            /**
             * Format: int64
             * @description The version of the row. Clients need not look at it.
             */
            timestamp: number;
        };
        /** @description A membership of the user. */
        SyncMembership: {
            /** @description How the member is called in the group; empty where there is none. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /** @description The membership has ended: remove it. */
            isDeleted: boolean;
            group: components["schemas"]["SyncGroup"];
        };
        SyncGroup: {
            id: string;
            name: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
            /**
             * Format: int64
             * @description The version of the row. Clients need not look at it.
             */
            timestamp: number;
        };
        /** @description Of a group of the user, the user too. */
        SyncMember: {
            groupId: string;
            memberId: string;
            /** @description How the member is called in the group; empty where there is none. */
            displayName: string;
            role: components["schemas"]["GroupRole"];
            /** @description The membership has ended: remove it. */
            isDeleted: boolean;
            /**
             * Format: int64
             * @description The version of the row. Clients need not look at it.
             */
            timestamp: number;
            user: components["schemas"]["Names"];
        };
        UserGetTokenAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["MessagingToken"];
        };
        UserGetImageTokenAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["ImageToken"];
        };
        ImageToken: {
            /** @description Where images are kept: `local` or `qiniu`. */
            target: string;
            /** @description An image is at `<domain>/<key>`. With `qiniu` it may be a bare host name. */
            domain: string;
            /** @description For an upload, within ten minutes. */
            token: string;
        };
        UserFindByRegionAndPhoneAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Profile"];
        };
        /** @description What users see of each other. */
        Profile: {
            id: string;
            /** @description Empty for a closed account. */
            nickname: string;
            /** @description An http or https address; empty where there is none. */
            portraitUri: string;
        };
        UserBatchAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Profile"][];
        };
        UserByIdAnswer: {
            /** @constant */
            code: 200;
            result: components["schemas"]["Profile"];
        };
        /** @description The image is at `<domain>/<key>`. */
        StoredImage: {
            hash: string;
            key: string;
        };
        UploadRefusal: {
            /** @description The HTTP status again. */
            code: number;
            reason: components["schemas"]["Reason"];
            /** @description For a developer: it may change. */
            message: string;
            /** @description The fields at fault, where some are. */
            details?: components["schemas"]["FieldProblem"][];
            /** @description The message again, where the storage refuses. */
            error?: string;
        };
        KeySet: {
            keys: components["schemas"]["PublicKey"][];
        };
        PublicKey: {
            kty: string;
            crv: string;
            x: string;
            kid: string;
            alg: string;
            use: string;
        };
    };
    responses: {
        /** @description - `cross_site`: a browser sent it from a page of another site */
        CrossSite: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description Why it is refused. */
                "X-Reason": "cross_site";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 403;
                    /** @enum {string} */
                    reason: "cross_site";
                };
            };
        };
        /** @description - `request_too_slow`: the request did not arrive in time */
        RequestTooSlow: {
            headers: {
                "X-Request-Id"?: string;
                /** @description Why it is refused. */
                "X-Reason": "request_too_slow";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 408;
                    /** @enum {string} */
                    reason: "request_too_slow";
                };
            };
        };
        /** @description - `body_too_large`: the body has more than 16 KiB */
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description Why it is refused. */
                "X-Reason": "body_too_large";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 413;
                    /** @enum {string} */
                    reason: "body_too_large";
                };
            };
        };
        /** @description - `headers_too_large`: the headers have more than 16 KiB */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id"?: string;
                /** @description Why it is refused. */
                "X-Reason": "headers_too_large";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 431;
                    /** @enum {string} */
                    reason: "headers_too_large";
                };
            };
        };
        /** @description - `internal_error`: something of the service, or the messaging provider, has failed */
        Failed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description Why it is refused. */
                "X-Reason": "internal_error";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 500;
                    /** @enum {string} */
                    reason: "internal_error";
                };
            };
        };
        /** @description - `bad_gateway`: the proxy had no whole answer from the service */
        BadGateway: {
            headers: {
                "X-Request-Id"?: string;
                /** @description Why it is refused. */
                "X-Reason": "bad_gateway";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 502;
                    /** @enum {string} */
                    reason: "bad_gateway";
                };
            };
        };
        /**
         * @description - `invalid_input`: a field is missing or malformed; `details` names it
         *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
         */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description Why it is refused. */
                "X-Reason": "invalid_input" | "malformed_body";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 400;
                    /** @enum {string} */
                    reason: "invalid_input" | "malformed_body";
                };
            };
        };
        /**
         * @description - `overloaded`: there are too many requests, or the database is away
         *     - `took_too_long`: it took too long: it may have been done or not
         *     - `service_away`: the proxy finds no instance of the service that answers
         */
        Unavailable: {
            headers: {
                "X-Request-Id"?: string;
                /** @description Why it is refused. */
                "X-Reason": "overloaded" | "took_too_long" | "service_away";
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 503;
                    /** @enum {string} */
                    reason: "overloaded" | "took_too_long" | "service_away";
                };
            };
        };
        /** @description - `not_signed_in`: there is no session, or it has ended */
        NotSignedIn: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /** @description Why it is refused. */
                "X-Reason": "not_signed_in";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    /** @constant */
                    code: 401;
                    /** @enum {string} */
                    reason: "not_signed_in";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description As it was sent, where that is 1 to 64 letters, digits, `.`, `_` and `-`; else made. */
        RequestId: string;
        /** @description Seconds to wait. */
        RetryAfter: number;
        /** @description The session's cookie anew, at most once a day. */
        RenewedSession: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    userSendCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
             *     - `too_soon`: the last code was sent to this phone a moment ago
             *     - `captcha_required`: so many codes are sent only with a solved captcha, and none came that is right
             *     - `daily_limit`: this phone has been sent all codes of the day
             *     - `address_limit`: this address has asked for too many codes
             *     - `no_guesses_left`: too many wrong codes were tried for this phone, so that no new one is sent
             *     - `sending_paused`: no code is sent for now, to this region or by the whole service
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
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `captcha_missing`: a solved captcha is wanted with each request
             *     - `captcha_wrong`: a solved captcha is wanted, and this one is wrong, was tried before, or is too old
             *     - `region_not_served`: no codes are sent to this region
             *     - `not_a_mobile`: codes are sent to mobile numbers alone
             *     - `undeliverable`: the SMS provider does not deliver to this number
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "captcha_missing" | "captcha_wrong" | "region_not_served" | "not_a_mobile" | "undeliverable";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "captcha_missing" | "captcha_wrong" | "region_not_served" | "not_a_mobile" | "undeliverable";
                    };
                };
            };
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_checks`: too many phones were checked, or captchas asked for, from this address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_checks";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_checks";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /**
             * @description - `overloaded`: there are too many requests, or the database is away
             *     - `took_too_long`: it took too long: it may have been done or not
             *     - `captcha_unchecked`: a captcha is wanted, and it could not be checked now
             *     - `sms_failed`: the SMS provider is away: no code was sent
             *     - `sms_unconfirmed`: the SMS provider did not answer in time: the code may still arrive
             *     - `service_away`: the proxy finds no instance of the service that answers
             */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "overloaded" | "took_too_long" | "captcha_unchecked" | "sms_failed" | "sms_unconfirmed" | "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "overloaded" | "took_too_long" | "captcha_unchecked" | "sms_failed" | "sms_unconfirmed" | "service_away";
                    };
                };
            };
        };
    };
    userVerifyCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
             *     - `wrong_code`: the code is wrong, or none was sent to this phone
             *
             *     With the return code 2000:
             *
             *     - `code_expired`: the code is spent or has expired
             *     - `guesses_spent`: too many wrong codes were tried for the day
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
            /** @description - `too_many_verifications`: too many codes were typed in from this address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_verifications";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_verifications";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userCheckPhoneAvailable: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            /** @description - `too_many_checks`: too many phones were checked, or captchas asked for, from this address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_checks";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_checks";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetSmsImgCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_checks`: too many phones were checked, or captchas asked for, from this address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_checks";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_checks";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRegister: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `phone_taken`: the phone has an account already; the token stays good
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "phone_taken";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "phone_taken";
                    };
                };
            };
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_token`: the verification token is unknown, spent or expired, at register */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_token";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_token";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
             *     - `wrong_credentials`: the phone has no account, or the password is wrong
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie"?: string;
                    "X-Reason"?: "wrong_credentials";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserLoginAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /**
             * @description - `too_many_attempts`: the password was tried, or changed, too often
             *     - `too_many_at_once`: too many of these are under way for this user, phone or address
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_attempts" | "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_attempts" | "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /**
             * @description - `internal_error`: something of the service, or the messaging provider, has failed
             *     - `https_required`: the request did not arrive over HTTPS, as the operator has set the service up
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "internal_error" | "https_required";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 500;
                        /** @enum {string} */
                        reason: "internal_error" | "https_required";
                    };
                };
            };
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userLogout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The end of the session. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userResetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `wrong_token`: the verification token is unknown, spent or expired
             *     - `no_account`: the phone of the verification token has no account
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "wrong_token" | "no_account";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "wrong_token" | "no_account";
                    };
                };
            };
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userChangePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `wrong_password`: the own password is wrong
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "wrong_password";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "wrong_password";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /**
             * @description - `too_many_attempts`: the password was tried, or changed, too often
             *     - `too_many_at_once`: too many of these are under way for this user, phone or address
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_attempts" | "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_attempts" | "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSessionsAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userEndSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetNickname: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            /** @description - `too_many_changes`: this user has changed the profile too often */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetPortraitUri: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `portrait_host_not_allowed`: the portrait is on a host that the operator does not allow
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "portrait_host_not_allowed";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "portrait_host_not_allowed";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_changes`: this user has changed the profile too often */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRemovePortrait: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_changes`: this user has changed the profile too often */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userCloseAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    /** @description The end of the session. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `wrong_password`: the own password is wrong
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "wrong_password";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "wrong_password";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /**
             * @description - `too_many_attempts`: the password was tried, or changed, too often
             *     - `too_many_at_once`: too many of these are under way for this user, phone or address
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_attempts" | "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_attempts" | "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userChangePhone: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPhone"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `wrong_password`: the own password is wrong
             *     - `wrong_token`: the verification token is unknown, spent or expired
             *     - `phone_taken`: the phone has an account already; the token stays good
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "wrong_password" | "wrong_token" | "phone_taken";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "wrong_password" | "wrong_token" | "phone_taken";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /**
             * @description - `too_many_attempts`: the password was tried, or changed, too often
             *     - `too_many_at_once`: too many of these are under way for this user, phone or address
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_attempts" | "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_attempts" | "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userExport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserExportAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSetFindable: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userBlacklist: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserBlacklistAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userAddToBlacklist: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `unknown_user`: a user that the body names is not there
             *     - `not_yourself`: the body names the user, where it must name others
             *     - `blacklist_full`: the user's blacklist is full
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "blacklist_full";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "blacklist_full";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_blacklist_adds`: this user has added too many to the blacklist */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_blacklist_adds";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_blacklist_adds";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userRemoveFromBlacklist: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipInviteAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `unknown_user`: a user that the body names is not there
             *     - `not_yourself`: the body names the user, where it must name others
             *     - `already_friends`: the other is a friend of the user already
             *     - `too_many_friends`: the user has as many friends, and own requests, as one may have
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "already_friends" | "too_many_friends";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "unknown_user" | "not_yourself" | "already_friends" | "too_many_friends";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_invitations`: this user has invited too many */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_invitations";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_invitations";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipAgree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `too_many_friends`: the user has as many friends, and own requests, as one may have
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "too_many_friends";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "too_many_friends";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `nothing_requested`: there is no request of the other that can be agreed to now */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "nothing_requested";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "nothing_requested";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipIgnore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `nothing_requested`: there is no request of the other that can be agreed to now */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "nothing_requested";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "nothing_requested";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipDelete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `not_friends`: the other is no friend of the user */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "not_friends";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "not_friends";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipSetDisplayName: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `not_friends`: the other is no friend of the user */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "not_friends";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "not_friends";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipAllAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    friendshipByFriendIdProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                friendId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FriendshipByFriendIdProfileAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `not_friends`: the other is no friend of the user */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "not_friends";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "not_friends";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupAdd: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `unknown_user`: a user that the body names is not there
             *     - `friends_only`: a user that the body names is no friend of the user
             *     - `group_full`: the group has no room for so many members
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "group_full";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "group_full";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupJoin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `group_full`: the group has no room for so many members
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "group_full";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "group_full";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `joining_closed`: nobody joins a group without being added by a member
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "joining_closed";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "joining_closed";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupQuit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupKick: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `not_yourself`: the body names the user, where it must name others
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "not_yourself";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "not_yourself";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupDismiss: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `not_a_member`: a user that the body names is no other member of the group
             *     - `new_creator_full`: the member is the creator of as many groups as one may be
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "not_a_member" | "new_creator_full";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "not_a_member" | "new_creator_full";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetManager: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `not_a_member`: a user that the body names is no other member of the group
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "not_a_member";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "not_a_member";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupRemoveManager: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGroups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGroupsAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupCreate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGroup"];
            };
        };
        responses: {
            /**
             * @description Done.
             *
             *     With the return code 1000:
             *
             *     - `too_many_groups`: the user is the creator of as many groups as one may be
             */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    "X-Reason"?: "too_many_groups";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupCreateAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `unknown_user`: a user that the body names is not there
             *     - `friends_only`: a user that the body names is no friend of the user
             *     - `group_full`: the group has no room for so many members
             *     - `portrait_host_not_allowed`: the portrait is on a host that the operator does not allow
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "group_full" | "portrait_host_not_allowed";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "unknown_user" | "friends_only" | "group_full" | "portrait_host_not_allowed";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /**
             * @description - `too_many_new_groups`: this user has created too many groups for the day
             *     - `too_many_group_changes`: this user has changed too much in groups
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_new_groups" | "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_new_groups" | "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupRename: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetPortraitUri: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `portrait_host_not_allowed`: the portrait is on a host that the operator does not allow
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "portrait_host_not_allowed";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "portrait_host_not_allowed";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetBulletin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `role_too_low`: a member of the group has not the role that this takes
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "role_too_low";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "role_too_low";
                    };
                };
            };
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupSetDisplayName: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_group_changes`: this user has changed too much in groups */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_group_changes";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_group_changes";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupByIdAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    groupByIdMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupByIdMembersAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_group`: the group is none of the user, or not there */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_group";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_group";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userSyncByVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                version: number;
            };
            cookie?: never;
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserSyncByVersionAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_at_once`: too many of these are under way for this user, phone or address */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_at_once";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_at_once";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGetTokenAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userGetImageToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserGetImageTokenAnswer"];
                };
            };
            /** @description - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_body";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_body";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userFindByRegionAndPhone: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An international dialling code. */
                region: string;
                /** @description As it is dialled in the region: 07911… and 7911… in 44 are one phone. */
                phone: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserFindByRegionAndPhoneAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_user`: there is no such user, for this user */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_user";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_user";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            /** @description - `too_many_lookups`: this user has looked up too many phones */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_lookups";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_lookups";
                    };
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    userById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Set-Cookie": components["headers"]["RenewedSession"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserByIdAnswer"];
                };
            };
            /**
             * @description - `invalid_input`: a field is missing or malformed; `details` names it
             *     - `malformed_body`: the body is no JSON object in UTF-8, or cannot be read
             *     - `malformed_path`: the path cannot be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "invalid_input" | "malformed_body" | "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "invalid_input" | "malformed_body" | "malformed_path";
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["CrossSite"];
            /** @description - `no_such_user`: there is no such user, for this user */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_user";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_user";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            413: components["responses"]["BodyTooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadImage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
            /** @description With the storage `qiniu`: send the form to Qiniu's own address. */
            307: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description - `malformed_upload`: the form, a field of it, or the path of the upload is malformed
             *     - `upload_cut_off`: the connection ended in the middle of the upload
             *     - `not_an_image`: the file is no PNG, JPEG, GIF or WebP image that can be read
             *     - `image_too_complex`: the image has too many pixels, frames or chunks
             *     - `image_too_slow`: the image takes too long to be decoded
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_upload" | "upload_cut_off" | "not_an_image" | "image_too_complex" | "image_too_slow";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_upload" | "upload_cut_off" | "not_an_image" | "image_too_complex" | "image_too_slow";
                    };
                };
            };
            /**
             * @description - `upload_token_refused`: the upload token is missing, forged, or ended by a new password or phone
             *     - `upload_token_expired`: the upload token has expired
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "upload_token_refused" | "upload_token_expired";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 401;
                        /** @enum {string} */
                        reason: "upload_token_refused" | "upload_token_expired";
                    };
                };
            };
            /**
             * @description - `cross_site`: a browser sent it from a page of another site
             *     - `key_not_allowed`: the key is one of another user
             */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "cross_site" | "key_not_allowed";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 403;
                        /** @enum {string} */
                        reason: "cross_site" | "key_not_allowed";
                    };
                };
            };
            /** @description - `checksum_wrong`: other bytes have arrived than the checksum is of */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "checksum_wrong";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 406;
                        /** @enum {string} */
                        reason: "checksum_wrong";
                    };
                };
            };
            /**
             * @description - `upload_too_slow`: the upload, or its token, came too slowly
             *     - `request_too_slow`: the request did not arrive in time
             */
            408: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "upload_too_slow" | "request_too_slow";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 408;
                        /** @enum {string} */
                        reason: "upload_too_slow" | "request_too_slow";
                    };
                };
            };
            /** @description - `image_too_large`: the file, or the form around it, has too many bytes */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "image_too_large";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 413;
                        /** @enum {string} */
                        reason: "image_too_large";
                    };
                };
            };
            /**
             * @description - `too_many_uploads`: this user has uploaded too many images
             *     - `image_space_full`: the images of this user take all the room that they may
             */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "too_many_uploads" | "image_space_full";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 429;
                        /** @enum {string} */
                        reason: "too_many_uploads" | "image_space_full";
                    };
                };
            };
            /** @description - `headers_too_large`: the headers have more than 16 KiB */
            431: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "headers_too_large";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 431;
                        /** @enum {string} */
                        reason: "headers_too_large";
                    };
                };
            };
            /** @description - `internal_error`: something of the service, or the messaging provider, has failed */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "internal_error";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 500;
                        /** @enum {string} */
                        reason: "internal_error";
                    };
                };
            };
            /** @description - `bad_gateway`: the proxy had no whole answer from the service */
            502: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "bad_gateway";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 502;
                        /** @enum {string} */
                        reason: "bad_gateway";
                    };
                };
            };
            /**
             * @description - `overloaded`: there are too many requests, or the database is away
             *     - `uploads_busy`: too many uploads are under way, or too many images wait to be decoded
             *     - `images_unavailable`: images cannot be decoded now
             *     - `disk_full`: there is no room for images now
             *     - `image_gone`: the image was removed while it was kept
             *     - `service_away`: the proxy finds no instance of the service that answers
             */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "overloaded" | "uploads_busy" | "images_unavailable" | "disk_full" | "image_gone" | "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "overloaded" | "uploads_busy" | "images_unavailable" | "disk_full" | "image_gone" | "service_away";
                    };
                };
            };
            /** @description - `key_taken`: the key holds another image */
            default: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "key_taken";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRefusal"] & {
                        /** @constant */
                        code: 614;
                        /** @enum {string} */
                        reason: "key_taken";
                    };
                };
            };
        };
    };
    image: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
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
            /** @description - `malformed_path`: the path cannot be decoded */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_path";
                    };
                };
            };
            /** @description - `no_such_image`: there is no such image */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_image";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_image";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /**
             * @description - `overloaded`: there are too many requests, or the database is away
             *     - `service_away`: the proxy finds no instance of the service that answers
             */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "overloaded" | "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "overloaded" | "service_away";
                    };
                };
            };
        };
    };
    captchaPicture: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
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
            /** @description - `malformed_path`: the path cannot be decoded */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "malformed_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 400;
                        /** @enum {string} */
                        reason: "malformed_path";
                    };
                };
            };
            /** @description - `no_such_captcha`: there is no such captcha, or it has expired or been tried */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_captcha";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_captcha";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /**
             * @description - `overloaded`: there are too many requests, or the database is away
             *     - `service_away`: the proxy finds no instance of the service that answers
             */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "overloaded" | "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "overloaded" | "service_away";
                    };
                };
            };
        };
    };
    captchaWidget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            /** @description - `no_such_path`: there is no such path */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_path";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /** @description - `service_away`: the proxy finds no instance of the service that answers */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "service_away";
                    };
                };
            };
        };
    };
    jwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            /** @description - `no_such_path`: there is no such path */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Why it is refused. */
                    "X-Reason": "no_such_path";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 404;
                        /** @enum {string} */
                        reason: "no_such_path";
                    };
                };
            };
            408: components["responses"]["RequestTooSlow"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /** @description - `service_away`: the proxy finds no instance of the service that answers */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "service_away";
                    };
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /** @description - `service_away`: the proxy finds no instance of the service that answers */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "service_away";
                    };
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /**
             * @description - `stopping`: this instance is stopping
             *     - `not_ready`: the database of this instance lacks migrations, or takes no writes
             *     - `overloaded`: there are too many requests, or the database is away
             *     - `service_away`: the proxy finds no instance of the service that answers
             */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "stopping" | "not_ready" | "overloaded" | "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "stopping" | "not_ready" | "overloaded" | "service_away";
                    };
                };
            };
        };
    };
    openApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
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
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Failed"];
            502: components["responses"]["BadGateway"];
            /** @description - `service_away`: the proxy finds no instance of the service that answers */
            503: {
                headers: {
                    "X-Request-Id"?: string;
                    /** @description Why it is refused. */
                    "X-Reason": "service_away";
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        /** @constant */
                        code: 503;
                        /** @enum {string} */
                        reason: "service_away";
                    };
                };
            };
        };
    };
}
