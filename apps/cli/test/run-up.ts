/** `up` with stand-ins for the services: node run-up.ts DATA [PORT] */
import { fileURLToPath } from 'node:url';
import { up } from '../src/commands/up.ts';

const [data, port = '0'] = process.argv.slice(2);
const fake = fileURLToPath(new URL('./fake-service.ts', import.meta.url));
const deadline = Number(process.env.FAKE_DEADLINE ?? 30_000);
const entry = (service: string) => [fake, service];
process.exit(await up({ data, port: Number(port), json: true }, { entry, initVolume: async () => {}, deadline }));
