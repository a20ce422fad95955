import { randomUUID } from 'node:crypto';
import {
  insertMirror,
  listMirrors,
  type MirrorPage,
  mirrorByName,
  overlappingName,
  updateMirror,
} from '../database/mirror-store.ts';
import type { Database, Db } from '../database/open-database.ts';
import { json, type MirrorRecord, type TaskRecord } from '../database/records.ts';
import { changeWantedRequests, currentTask, insertTask, lastTask, openTasks } from '../database/task-store.ts';
import type { CloneRequest } from '../domain/clone-request.ts';
import {
  type Decision,
  decideClone,
  decideCreate,
  decideRetire,
  type MirrorFactsForDecision,
  type TaskFacts,
} from '../domain/decide.ts';
import { acceptName } from '../domain/mirror-name.ts';
import { ApiProblem } from '../domain/problem.ts';
import { acceptLevel, acceptSource, type SourcePolicy } from '../domain/source-policy.ts';
import type { TasksService } from './tasks.service.ts';

export interface MirrorsParts {
  readonly db: Database;
  readonly sources: SourcePolicy;
  readonly volumes: readonly string[];
  readonly tasks: TasksService;
  /** Something may be admissible now. */
  readonly kick: () => void;
}

export interface MirrorWish {
  readonly name: string;
  readonly source: string;
  readonly digest?: string | undefined;
  readonly volume?: string | undefined;
  readonly verify: CloneRequest['verify'];
  readonly settings: CloneRequest['settings'];
}

export interface MirrorChange {
  readonly source?: string | undefined;
  readonly digest?: string | undefined;
  readonly verify?: CloneRequest['verify'] | undefined;
  readonly settings?: CloneRequest['settings'] | undefined;
}

export interface Answer {
  readonly outcome: 'created' | 'merged';
  readonly mirror: MirrorRecord;
  readonly task: TaskRecord | undefined;
}

/** What is wanted of mirrors. Every change is one transaction; the work itself begins when admission finds it. */
export class MirrorsService {
  readonly #parts: MirrorsParts;

  constructor(parts: MirrorsParts) {
    this.#parts = parts;
  }

  async create(wish: MirrorWish): Promise<Answer> {
    const { db, sources, volumes } = this.#parts;
    const name = acceptName(wish.name);
    const volume = this.#acceptVolume(wish.volume);
    const verify = acceptLevel(wish.verify);
    const source = await acceptSource(wish.source, sources, wish.digest);
    const request: CloneRequest = { source, verify, settings: wish.settings };
    return this.#commit(db, async (tx) => {
      const found = await mirrorByName(tx, name);
      const decision = decideCreate(found && (await factsOf(tx, found)), { request, volume });
      if (decision.kind !== 'create') return this.#answer(tx, { name, decision });
      const overlap = await overlappingName(tx, name);
      if (overlap !== undefined) {
        throw new ApiProblem('API_NAME_TAKEN', `the name overlaps with the mirror "${overlap}"`, {
          outcome: 'refused',
        });
      }
      const at = Date.now();
      if (found) {
        // A retired name comes back: the lane goes on counting, since the volume remembers its numbers.
        const home = volume ?? found.volume;
        const change = { volume: home, retired_at: null, request_json: json(request), problem_json: null };
        await updateMirror(tx, found.id, change);
      } else {
        const home = volume ?? volumes[0] ?? '';
        await insertMirror(tx, {
          id: randomUUID(),
          name,
          volume: home,
          request_json: json(request),
          state: 'wanted',
          next_number: 1,
          created_at: at,
          updated_at: at,
        });
      }
      return this.#insert(tx, name, request);
    });
  }

  async clone(name: string): Promise<Answer> {
    return this.#commit(this.#parts.db, async (tx) => {
      const mirror = await this.#found(tx, name);
      const { request } = mirror;
      if (!request) {
        throw new ApiProblem('HG_USAGE', 'the mirror has no source', {
          outcome: 'refused',
          advice: 'It was rebuilt from its volume. Give it a source with PATCH, then ask again.',
        });
      }
      const decision = decideClone(await factsOf(tx, mirror), request);
      if (decision.kind !== 'create') return this.#answer(tx, { name, decision });
      if (mirror.retired) {
        const overlap = await overlappingName(tx, name);
        if (overlap !== undefined) {
          throw new ApiProblem('API_NAME_TAKEN', `the name overlaps with the mirror "${overlap}"`, {
            outcome: 'refused',
          });
        }
        await updateMirror(tx, mirror.id, { retired_at: null });
      }
      return this.#insert(tx, name, request);
    });
  }

  /** Works in every state. What is under way goes on as it was asked; what is only wanted follows the change. */
  async change(name: string, change: MirrorChange): Promise<MirrorRecord> {
    const { db, sources } = this.#parts;
    const source = change.source === undefined ? undefined : await acceptSource(change.source, sources, change.digest);
    const verify = change.verify === undefined ? undefined : acceptLevel(change.verify);
    return db.transaction().execute(async (tx) => {
      const mirror = await this.#found(tx, name);
      const merged = {
        source: source ?? mirror.request?.source,
        verify: verify ?? mirror.request?.verify ?? 'quick',
        settings: change.settings ?? mirror.request?.settings ?? {},
      };
      if (!merged.source) throw new ApiProblem('HG_USAGE', 'the mirror has no source yet: give one');
      const request: CloneRequest = { ...merged, source: merged.source };
      await updateMirror(tx, mirror.id, { request_json: json(request), updated_at: Date.now() });
      await changeWantedRequests(tx, mirror.id, request);
      return this.#found(tx, name);
    });
  }

  /** Retiring stops what the mirror was about to do: wanted clones end at once, one under way is cancelled. */
  async retire(name: string): Promise<Answer> {
    const cancelling: TaskRecord[] = [];
    const answer = await this.#commit(this.#parts.db, async (tx) => {
      const mirror = await this.#found(tx, name);
      const decision = decideRetire(await factsOf(tx, mirror));
      if (decision.kind !== 'create') return this.#answer(tx, { name, decision });
      for (const task of await openTasks(tx, mirror.id)) cancelling.push(task);
      const task = await insertTask(tx, mirror, { id: randomUUID(), action: 'retire', request: null, at: Date.now() });
      await updateMirror(tx, mirror.id, { updated_at: Date.now() });
      return { outcome: 'created', mirror: await this.#found(tx, name), task };
    });
    for (const task of cancelling) await this.#parts.tasks.cancel(task.id);
    return answer;
  }

  async list(page: MirrorPage): Promise<MirrorRecord[]> {
    return listMirrors(this.#parts.db, page);
  }

  async show(name: string): Promise<{ mirror: MirrorRecord; task: TaskRecord | undefined }> {
    const mirror = await this.#found(this.#parts.db, name);
    return { mirror, task: await currentTask(this.#parts.db, mirror.id) };
  }

  async #commit(db: Database, work: (tx: Db) => Promise<Answer>): Promise<Answer> {
    const answer = await db.transaction().execute(work);
    if (answer.outcome === 'created') this.#parts.kick();
    return answer;
  }

  async #insert(tx: Db, name: string, request: CloneRequest): Promise<Answer> {
    const mirror = await this.#found(tx, name);
    const at = Date.now();
    const task = await insertTask(tx, mirror, { id: randomUUID(), action: 'clone', request, at });
    await updateMirror(tx, mirror.id, { updated_at: at });
    return { outcome: 'created', mirror: await this.#found(tx, name), task };
  }

  /** Merged or refused. */
  async #answer(
    tx: Db,
    { name, decision }: { name: string; decision: Exclude<Decision, { kind: 'create' }> },
  ): Promise<Answer> {
    const mirror = await this.#found(tx, name);
    if (decision.kind === 'refuse') {
      const detail =
        decision.code === 'API_RETIRING'
          ? 'the mirror is being retired'
          : 'a mirror of this name exists with another source or on another volume';
      throw new ApiProblem(decision.code, detail, {
        outcome: 'refused',
        ...(decision.task ? { task: decision.task } : {}),
      });
    }
    const task = decision.task && (await openTasks(tx, mirror.id)).find(({ id }) => id === decision.task?.id);
    return { outcome: 'merged', mirror, task: task ?? (await lastTask(tx, mirror.id)) };
  }

  async #found(db: Db, name: string): Promise<MirrorRecord> {
    const mirror = await mirrorByName(db, name);
    if (mirror) return mirror;
    throw new ApiProblem('API_UNKNOWN_MIRROR', 'there is no mirror of this name');
  }

  #acceptVolume(volume: string | undefined): string | undefined {
    const { volumes } = this.#parts;
    if (volume === undefined || volumes.includes(volume)) return volume;
    const message = 'there is no volume of this name';
    throw new ApiProblem('HG_USAGE', message, {
      errors: [{ field: 'volume', message, allowed: volumes }],
      advice: 'Volumes are configured by QUICKSILVER_VOLUMES.',
    });
  }
}

async function factsOf(tx: Db, mirror: MirrorRecord): Promise<MirrorFactsForDecision> {
  const last = await lastTask(tx, mirror.id);
  return {
    volume: mirror.volume,
    request: mirror.request,
    retired: mirror.retired,
    open: (await openTasks(tx, mirror.id)).map(taskFacts),
    last: last && taskFacts(last),
  };
}

function taskFacts(task: TaskRecord): TaskFacts {
  const { id, action, state, cancelRequested, request } = task;
  return { id, action, state, cancelRequested, request };
}
