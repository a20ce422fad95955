import { connect, type Socket } from 'node:net';

export type RespValue = string | number | null | RespValue[] | Error;

/** Where a Redis server listens. */
export type RedisTarget = { readonly path: string } | { readonly host: string; readonly port: number };

/** One command on a connection of its own, in Redis's own protocol: enough for tests, with no client library. */
export function redisCommand(target: RedisTarget, args: readonly string[], timeout = 5000): Promise<RespValue> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(target);
    let received = Buffer.alloc(0);
    const done = (settle: () => void): void => {
      socket.destroy();
      settle();
    };
    socket.setTimeout(timeout, () => done(() => reject(new Error('Redis gave no answer in time'))));
    socket.once('error', (error) => done(() => reject(error)));
    socket.once('close', () => reject(new Error('Redis closed the connection')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const reply = readReply(received, 0);
      if (!reply) return;
      const { value } = reply;
      done(() => (value instanceof Error ? reject(value) : resolve(value)));
    });
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    socket.write(`*${args.length}\r\n${parts.join('')}`);
  });
}

interface Reply {
  readonly value: RespValue;
  readonly next: number;
}

function readReply(bytes: Buffer, at: number): Reply | undefined {
  const end = bytes.indexOf('\r\n', at);
  if (end < 0) return undefined;
  const line = bytes.toString('utf8', at + 1, end);
  const next = end + 2;
  switch (String.fromCharCode(bytes[at] ?? 0)) {
    case '+':
      return { value: line, next };
    case '-':
      return { value: new Error(line), next };
    case ':':
      return { value: Number(line), next };
    case '$':
      return readBulk(bytes, Number(line), next);
    case '*':
      return readArray(bytes, Number(line), next);
    default:
      throw new Error('not a Redis reply');
  }
}

function readBulk(bytes: Buffer, length: number, at: number): Reply | undefined {
  if (length < 0) return { value: null, next: at };
  if (bytes.length < at + length + 2) return undefined;
  return { value: bytes.toString('utf8', at, at + length), next: at + length + 2 };
}

function readArray(bytes: Buffer, length: number, at: number): Reply | undefined {
  const values: RespValue[] = [];
  let next = at;
  for (let i = 0; i < length; i++) {
    const item = readReply(bytes, next);
    if (!item) return undefined;
    values.push(item.value);
    next = item.next;
  }
  return { value: values, next };
}
