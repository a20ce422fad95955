/**
 * Stands in for a service under `up`: says `listening`, answers /readyz, drains on SIGTERM. What it does is written to
 * the file FAKE_LOG, one word a line, so that a test can see the order of things across processes.
 *   FAKE_UNREADY=1  /readyz says no
 *   FAKE_DRAIN=ms  time that draining takes    FAKE_CRASH=name  the service that ends at once
 *   FAKE_CONFIG=name  the service that cannot use its settings
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';

const name = process.argv[2] ?? 'service';
const log = (what: string) => appendFileSync(process.env.FAKE_LOG ?? '/dev/null', `${name} ${what} ${process.pid}\n`);

if (process.env.FAKE_CRASH === name) {
  process.stderr.write('the configuration cannot be used: QUICKSILVER_GRACE\n');
  process.exit(1);
}

if (process.env.FAKE_CONFIG === name) {
  const msg = 'the configuration cannot be used:\n  QUICKSILVER_GRACE: milliseconds, in digits';
  process.stdout.write(`${JSON.stringify({ level: 'fatal', service: name, msg })}\n`);
  process.exit(78);
}

/** Draining needs Redis, as in the real services. */
function redisIsThere(): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(process.env.REDIS_URL ?? '');
    connection.once('connect', () => connection.end(() => resolve(true)));
    connection.once('error', () => resolve(false));
  });
}

async function leave(): Promise<void> {
  log((await redisIsThere()) ? 'drained' : 'drained-without-redis');
  process.exit(0);
}

const unready = { status: 'failing', checks: { database: { ok: true }, redis: { ok: false, reason: 'it is away' } } };
const server = createServer((_request, response) => {
  response.statusCode = process.env.FAKE_UNREADY ? 503 : 200;
  response.end(JSON.stringify(process.env.FAKE_UNREADY ? unready : { status: 'ok', checks: {} }));
});
process.on('SIGTERM', () => {
  log('draining');
  setTimeout(() => void leave(), Number(process.env.FAKE_DRAIN ?? 0));
});
server.listen(Number(process.env.QUICKSILVER_PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  log('listening');
  const url = `http://127.0.0.1:${port}`;
  process.stdout.write(`${JSON.stringify({ level: 'info', service: name, msg: 'listening', url, port })}\n`);
});
