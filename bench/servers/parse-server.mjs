// Parse Server with its own tables and its own settings.
import express from 'express';
import { ParseServer } from 'parse-server';
import { DATABASE_URL, HOST, listen, PORT, SESSION_SECRET } from './own.mjs';

const server = new ParseServer({
  databaseURI: DATABASE_URL,
  appId: 'bench',
  masterKey: SESSION_SECRET,
  serverURL: `http://${HOST}:${PORT}/parse`,
});
await server.start();
listen(express().use('/parse', server.app));
