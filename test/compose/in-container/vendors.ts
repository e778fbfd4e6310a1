import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { startTwilioStandIn } from '../../support/stand-ins/twilio';

/** Imitates vendors for the service: Twilio over TLS on port 8080, and on 8081 the latest text sent to a phone. */
async function main(): Promise<void> {
  const { url, requests } = await startTwilioStandIn();
  const port = Number(new URL(url).port);
  const [key, cert] = [readFileSync('/scripts/vendors.key'), readFileSync('/scripts/vendors.crt')];
  const twilio = createTlsServer({ key, cert }, (outside) => {
    const inside = connect(port, '127.0.0.1');
    outside.pipe(inside).pipe(outside);
    outside.on('error', () => inside.destroy());
    inside.on('error', () => outside.destroy());
  });
  const inbox = createServer((req, res) => {
    const phone = decodeURIComponent(req.url ?? '').slice(1);
    res.end(requests.findLast(({ form }) => form.get('To') === phone)?.form.get('Body') ?? '');
  });
  twilio.listen(8080, '0.0.0.0');
  inbox.listen(8081, '0.0.0.0');
}

void main();
