import {
  type Bundle2Visitor,
  type PartConsumer,
  type PartHeader,
  PayloadCollector,
  readBookmarks,
  readPhaseHeads,
  readStream2Params,
  readStream3Params,
  refuseUnknown,
  type Stream1Params,
  StreamV1Decoder,
  StreamV2Decoder,
  StreamV3Decoder,
} from '@quicksilver/bundle';
import { HgError, hexNode, type Phase, printable } from '@quicksilver/hg-types';
import type { StoreSink } from './store-sink.ts';
import { planStream1, planStream2, planStream3, type StreamPlan } from './stream-plan.ts';
import { Warnings } from './warnings.ts';

/** Bookmarks and phase heads are lists of heads: far smaller than this in any real repository. */
const MAX_SIDE_PART = 16 * 1024 * 1024;

/** Parts that change nothing in a clone: caches that are made again, and talk between two sides. */
const WITHOUT_EFFECT = new Set(['hgtagsfnodes', 'cache:rev-branch-cache', 'output', 'replycaps', 'pushvars']);
/** Histories in forms that are not read yet. */
const OTHER_HISTORY = new Set(['changegroup', 'remote-changegroup']);

/** What a bundle is to a new clone, part by part. */
export class Receiver implements Bundle2Visitor {
  readonly warnings = new Warnings();
  readonly bookmarks: { name: string; node: string }[] = [];
  readonly phaseHeads: { phase: Phase; node: string }[] = [];
  readonly #begin: (plan: StreamPlan) => StoreSink;
  readonly #sourceSize: number;
  #hasStream = false;
  #stream: StoreSink | undefined;

  /** `begin`: checks what must hold before anything is written, and opens the way to disk. */
  constructor(begin: (plan: StreamPlan) => StoreSink, { sourceSize }: { sourceSize: number }) {
    this.#begin = begin;
    this.#sourceSize = sourceSize;
  }

  /** The files of the stream, once it has begun. */
  get stream(): StoreSink | undefined {
    return this.#stream;
  }

  /** A bundle without parts, that is one stream. `offset`: where its first file lies. */
  stream1(params: Stream1Params, offset: number): StreamV1Decoder {
    this.warnings.add('a stream of version 1 says nothing of phases: all its changesets are public');
    return new StreamV1Decoder(params, this.#open(planStream1(params)), offset);
  }

  part(header: PartHeader, offset: number): PartConsumer | 'skip' {
    if (refuseUnknown(header) === 'skip') {
      this.warnings.add(`an unknown part was skipped: ${printable(header.rawType)}`);
      return 'skip';
    }
    switch (header.type) {
      case 'stream2': {
        this.#refuseSecond(header, offset);
        const params = readStream2Params(header);
        return new StreamV2Decoder(params, this.#open(planStream2(params)));
      }
      case 'stream3-exp': {
        this.#refuseSecond(header, offset);
        const params = readStream3Params(header);
        const sourceSize = this.#sourceSize;
        return new StreamV3Decoder((entryCount) => this.#open(planStream3(params, { entryCount, sourceSize })));
      }
      case 'bookmarks':
        return this.#collect(header, (payload) => {
          for (const { name, node } of readBookmarks(payload)) {
            if (node) this.bookmarks.push({ name, node: hexNode(node) });
          }
        });
      case 'phase-heads':
        return this.#collect(header, (payload) => {
          for (const { phase, node } of readPhaseHeads(payload)) this.phaseHeads.push({ phase, node: hexNode(node) });
        });
      default:
        return this.#skip(header, offset);
    }
  }

  output(line: string): void {
    this.warnings.add(`the writer of the bundle says: ${line}`);
  }

  #refuseSecond(header: PartHeader, offset: number): void {
    if (this.#hasStream) {
      throw new HgError('HG_CORRUPT', 'the bundle holds two stream clones', { part: header.id, offset });
    }
    this.#hasStream = true;
  }

  #open(plan: StreamPlan): StoreSink {
    this.#stream = this.#begin(plan);
    return this.#stream;
  }

  #collect(header: PartHeader, done: (payload: Uint8Array) => void): PartConsumer {
    return new PayloadCollector({ limit: MAX_SIDE_PART, part: header.type, done });
  }

  #skip(header: PartHeader, offset: number): 'skip' {
    const where = { part: printable(header.rawType), offset };
    if (WITHOUT_EFFECT.has(header.type) || header.type.startsWith('reply:')) return 'skip';
    if (OTHER_HISTORY.has(header.type)) {
      throw new HgError('HG_NOT_YET', 'the bundle holds a history in another form than a stream', where);
    }
    if (header.type === 'obsmarkers' && header.mandatory) {
      throw new HgError('HG_NOT_YET', 'the bundle holds obsolescence markers that must be applied', where);
    }
    // They speak of changing a repository of somebody's own; a file has no say in that.
    this.warnings.add(`a part was ignored: ${printable(header.rawType)}`);
    return 'skip';
  }
}
