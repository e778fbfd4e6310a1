import dotenv from 'dotenv';

dotenv.config({ quiet: true });
// Each loads only what it needs.
void (process.env.IMAGES === 'only' ? import('./images-server') : import('./accounts-server'));
