// POST /user/:id as tutorials write it: Express, express-session, connect-pg-simple and Knex with their defaults.
import connectPgSimple from 'connect-pg-simple';
import express from 'express';
import session from 'express-session';
import knex from 'knex';
import { DATABASE_URL, listen, SESSION_SECRET } from './own.mjs';

const db = knex({ client: 'pg', connection: DATABASE_URL });
const PgSession = connectPgSimple(session);
const store = new PgSession({ conString: DATABASE_URL });
const app = express();

app.use(express.json());
app.use(session({ store, secret: SESSION_SECRET, resave: false, saveUninitialized: false }));

app.post('/user/:id', async (req, res) => {
  if (!req.session.userId) return res.status(401).json({ code: 401 });
  const user = await db('users')
    .select('id', 'nickname', 'portrait_uri as portraitUri')
    .where({ id: req.params.id })
    .first();
  return user ? res.json({ code: 200, result: user }) : res.status(404).json({ code: 404 });
});

listen(app);
