import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Where } from '@quicksilver/bytes';
import { HgError, toHgError } from '@quicksilver/hg-types';
import { resolveBySystem } from './connect.ts';
import { checkDigests } from './digests.ts';
import { type Answer, exchange } from './exchange.ts';
import { connectionFault, retryAfter, statusFault } from './faults.ts';
import { DEFAULT_LIMITS, type Fetched, type FetchLimits, type FetchOptions } from './fetch-options.ts';
import { agrees, contentLength, contentRange, unsatisfiedSize, validatorOf } from './headers.ts';
import { Sniffer } from './sniff.ts';
import type { SourceUrl } from './source-url.ts';
import { Spool } from './spool.ts';

/*
 *   try:  GET (from the source's own address, Range + If-Range once there is something) -> 206 append | 200 from the front
 *         cut, silence, 5xx, another version: save, pause, try again, until `tries` or `fruitless` is used up
 *         refused, gone, no bundle, too big, no room, ...: the end
 *   whole: size and digests over the file on disk
 */

/** Another reason to try again than the network: what was there has been let go of. */
const AGAIN: ReadonlySet<string> = new Set(['HG_NETWORK', 'HG_SOURCE_CHANGED']);

/**
 * Brings the bundle at an address into `dir`, which exists and belongs to this download alone. Whatever ends it, another
 * call goes on where it was, in this process or another.
 */
export async function fetchToSpool(source: SourceUrl, dir: string, options: FetchOptions): Promise<Fetched> {
  await using spool = await Spool.open(dir, source);
  const download = new Download(source, spool, options);
  try {
    return await download.run();
  } catch (err) {
    options.signal.throwIfAborted();
    throw toHgError(err);
  }
}

class Download {
  readonly #source: SourceUrl;
  readonly #spool: Spool;
  readonly #options: FetchOptions;
  readonly #limits: FetchLimits;

  constructor(source: SourceUrl, spool: Spool, options: FetchOptions) {
    this.#source = source;
    this.#spool = spool;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  async run(): Promise<Fetched> {
    const spool = this.#spool;
    let last: HgError | undefined;
    while (!spool.complete) {
      this.#refuseSpent(last);
      await this.#pause(last);
      last = await this.#try();
    }
    return this.#check();
  }

  /** @returns why it has to be tried again; undefined when it need not be, or brought a part that was sent as such. */
  async #try(): Promise<HgError | undefined> {
    const { signal } = this.#options;
    let notBefore = 0;
    try {
      const answer = await this.#ask();
      notBefore = wantedWait(answer.response);
      using _body = answer.body;
      await this.#take(answer);
      return undefined;
    } catch (err) {
      const fault = connectionFault(err, this.#where());
      // Being stopped is nothing that the source has done: it costs no try.
      const saved = signal.aborted ? this.#spool.save() : this.#spool.tried({ notBefore });
      if (signal.aborted || !AGAIN.has(fault.code)) {
        await saved.catch(() => {}); // the first fault is the one to tell
        signal.throwIfAborted();
        throw fault;
      }
      await saved;
      if (notBefore > Date.now() + this.#limits.longestWaitMs) {
        const seconds = Math.round((notBefore - Date.now()) / 1000);
        throw new HgError('HG_SOURCE_BUSY', 'the source asks to wait', { ...fault.where, seconds }, fault);
      }
      return fault;
    }
  }

  #ask(): Promise<Answer> {
    const { signal, addressPolicy, userAgent, ca, resolve = resolveBySystem } = this.#options;
    const { connectMs, idleMs, maxRedirects } = this.#limits;
    const { have, validator } = this.#spool;
    const range: Record<string, string> =
      have > 0 && validator ? { range: `bytes=${have}-`, 'if-range': validator.value } : {};
    const headers = { 'user-agent': userAgent, ...range };
    const more = { signal, addressPolicy, ca, resolve, connectMs, idleMs, maxRedirects };
    return exchange(this.#source, { headers, ...more });
  }

  /** What an answer brings, into the spool. */
  async #take(answer: Answer): Promise<void> {
    const spool = this.#spool;
    const { response, host } = answer;
    const status = response.statusCode ?? 0;
    const where = { ...this.#where(), host };
    const encoding = response.headers['content-encoding'];
    if ((status === 200 || status === 206) && encoding !== undefined && encoding !== 'identity') {
      throw new HgError('HG_UNSUPPORTED', 'the source packs its answer though it was asked not to', {
        ...where,
        encoding: encoding.slice(0, 40),
      });
    }
    switch (status) {
      case 200: {
        // Also the answer to a range that is ignored, or belongs to another version by now.
        const size = contentLength(response);
        this.#checkSize(size, where);
        await spool.begin({ validator: validatorOf(response), size });
        return this.#body(answer, { where, until: size });
      }
      case 206: {
        const until = await this.#checkRange(response, where);
        return this.#body(answer, { where, until });
      }
      case 416:
        return this.#unsatisfied(response, where);
      default:
        throw statusFault(status, where);
    }
  }

  /** @returns where this part ends. @throws when it is no continuation of what is there. */
  async #checkRange(response: IncomingMessage, where: Where): Promise<number> {
    const { have, size, validator } = this.#spool;
    const range = contentRange(response.headers['content-range']);
    if (!range || !validator) throw new HgError('HG_NETWORK', 'the source sends a part that nobody asked for', where);
    const other = !agrees(response, validator) || (size !== undefined && (range.total ?? size) !== size);
    if (other || range.start !== have) {
      await this.#spool.discard();
      const message = other
        ? 'the source changed while it was fetched'
        : 'the source sends another part than asked for';
      throw new HgError(other ? 'HG_SOURCE_CHANGED' : 'HG_NETWORK', message, where);
    }
    if (range.total !== undefined) {
      this.#checkSize(range.total, where);
      this.#spool.learnSize(range.total);
    }
    return range.end + 1;
  }

  /** Nothing lies behind what is there: it was all, or it is part of another version. */
  async #unsatisfied(response: IncomingMessage, where: Where): Promise<void> {
    const spool = this.#spool;
    const total = unsatisfiedSize(response.headers['content-range']);
    if (spool.have > 0 && total === spool.have && (spool.size ?? total) === total) return spool.completed();
    await spool.discard();
    throw new HgError('HG_SOURCE_CHANGED', 'the source is shorter than what has arrived of it', where);
  }

  async #body(
    { response, body }: Answer,
    { where, until }: { where: Where; until: number | undefined },
  ): Promise<void> {
    const spool = this.#spool;
    const sniffer = spool.have === 0 ? new Sniffer(response, where) : undefined;
    for await (const piece of body.pieces(this.#limits.idleMs)) {
      const bytes = sniffer ? sniffer.push(piece) : piece;
      const end = spool.have + bytes.length;
      if (end > this.#limits.maxBytes) throw this.#tooBig(end, where);
      if (until !== undefined && end > until) {
        await spool.discard();
        throw new HgError('HG_SOURCE_CHANGED', 'the source sends more than it announced', { ...where, until });
      }
      await spool.write(bytes);
      this.#report();
    }
    if (!response.complete) throw new HgError('HG_NETWORK', 'the connection was cut', this.#where());
    sniffer?.end();
    if (until !== undefined && spool.have < until) {
      throw new HgError('HG_NETWORK', 'the answer ended too early', this.#where());
    }
    if (spool.size === undefined || spool.have === spool.size) await spool.completed();
  }

  #checkSize(size: number | undefined, where: Where): void {
    if (size === undefined) return;
    if (size > this.#limits.maxBytes) throw this.#tooBig(size, where);
    const wanted = this.#options.size;
    if (wanted !== undefined && wanted !== size) {
      throw new HgError('HG_DIGEST', 'the source has another size than the wanted one', { ...where, size, wanted });
    }
  }

  #tooBig(size: number, where: Where): HgError {
    return new HgError('HG_LIMIT', 'the source is bigger than what is allowed', {
      ...where,
      size,
      limit: this.#limits.maxBytes,
    });
  }

  async #check(): Promise<Fetched> {
    const { signal, digests = [] } = this.#options;
    const spool = this.#spool;
    try {
      this.#checkSize(spool.have, this.#where());
      const sha256 = await checkDigests(spool.path, digests, signal);
      const { tries, received } = spool.counts;
      const { path, have: size, validator } = spool;
      // The request that ended well is not counted as a try that failed.
      return { path, url: this.#source.shown, size, sha256, validator, tries: tries + 1, received };
    } catch (err) {
      const fault = toHgError(err);
      if (fault.code !== 'HG_DIGEST') throw err;
      await spool.discard();
      await spool.save();
      throw new HgError(fault.code, fault.message, { ...this.#where(), ...fault.where }, fault);
    }
  }

  /** @throws HgError HG_UNREACHABLE when no try is left, here or from an attempt before this one. */
  #refuseSpent(last: HgError | undefined): void {
    const { tries, fruitless } = this.#spool.counts;
    if (tries < this.#limits.tries && fruitless < this.#limits.fruitless) return;
    const facts = { ...this.#where(), ...(last ? { reason: last.message, ...reasonOf(last) } : {}), tries };
    if (last?.code === 'HG_SOURCE_CHANGED') {
      throw new HgError('HG_UNREACHABLE', 'the source changed again and again while it was fetched', facts, last);
    }
    throw new HgError('HG_UNREACHABLE', 'the network or the server failed on every try', facts, last);
  }

  async #pause(last: HgError | undefined): Promise<void> {
    const { tries, fruitless, notBefore } = this.#spool.counts;
    const { firstPauseMs, longestPauseMs, longestWaitMs } = this.#limits;
    const grown = !last ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** fruitless);
    // By chance, so that many that failed at the same moment do not come back at the same moment.
    const own = grown * (0.5 + Math.random() / 2);
    const asked = Math.min(longestWaitMs, notBefore - Date.now());
    const pause = asked > 0 ? asked + own : own;
    if (pause <= 0) return;
    if (pause >= 1000) this.#report(`waits ${Math.round(pause / 1000)} s before try ${tries + 1}`);
    await sleep(pause, undefined, { signal: this.#options.signal });
  }

  #report(note?: string): void {
    this.#options.onProgress?.({ done: this.#spool.have, total: this.#spool.size, ...(note ? { note } : {}) });
  }

  #where(): Where {
    const { have, size } = this.#spool;
    return { source: this.#source.shown, received: have, ...(size === undefined ? {} : { expected: size }) };
  }
}

/** Milliseconds since the epoch until which a failed answer asks to wait. */
function wantedWait({ headers, statusCode = 0 }: IncomingMessage): number {
  if (statusCode < 400) return 0;
  const now = Date.now();
  const wait = retryAfter(headers['retry-after'], now);
  return wait === undefined ? 0 : now + wait;
}

function reasonOf({ where }: HgError): Where {
  const { status, reason } = where;
  return { ...(status === undefined ? {} : { status }), ...(reason === undefined ? {} : { system: reason }) };
}
