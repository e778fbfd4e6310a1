// Every test of sessions once more, with express-session and its store reading them all: both ways have to agree.
import '../support/sessions-by-store';
import './sessions.test';
import './own-sessions.test';
