/** Of the same form as a user's: whoever has it may be let in by it. */
export { newUserId as newGroupId } from '../users/user-id';
