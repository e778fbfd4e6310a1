/** Imported first, it has express-session read every session. */
process.env.SESSIONS_BY_STORE = 'yes';
