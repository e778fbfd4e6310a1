// Parse Server with its own tables and its own settings.
import express from 'express';
import { ParseServer } from 'parse-server';

const { DATABASE_URL, SESSION_SECRET, PORT } = process.env;
const server = new ParseServer({
  databaseURI: DATABASE_URL,
  appId: 'bench',
  masterKey: SESSION_SECRET,
  serverURL: `http://127.0.0.1:${PORT}/parse`,
});
await server.start();
express().use('/parse', server.app).listen(Number(PORT), '127.0.0.1');
