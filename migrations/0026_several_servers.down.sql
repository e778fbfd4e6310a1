DROP FUNCTION user_renamed, hold_in_place;
