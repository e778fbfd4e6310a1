DROP TRIGGER friendships_of_open_again ON friendships;
CREATE TRIGGER friendships_of_open_again BEFORE UPDATE ON friendships FOR EACH ROW
  WHEN (NEW.status <> 30 AND OLD.status = 30) EXECUTE FUNCTION friendships_of_open();

DROP TRIGGER users_touch_memberships ON users;
CREATE TRIGGER users_touch_memberships AFTER UPDATE ON users FOR EACH ROW
  WHEN ((NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_memberships();
DROP TRIGGER users_touch_friendships ON users;
CREATE TRIGGER users_touch_friendships AFTER UPDATE ON users FOR EACH ROW
  WHEN ((NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_friendships();

DROP TRIGGER users_close ON users;
DROP FUNCTION users_close;
DROP TABLE account_closings;
