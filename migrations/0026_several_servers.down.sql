DROP FUNCTION user_renamed, hold_in_place, user_joins, groups_of;
