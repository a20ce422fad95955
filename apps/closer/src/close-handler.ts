import { decodeProblem, type EngineSlots, type JobContext, type JobHandler, problemOf } from '@quicksilver/app-kit';
import type { VolumeAccess } from '@quicksilver/app-kit/engine';
import { HgError } from '@quicksilver/hg-types';
import { CloneResult, CloseData, type Problem, type TaskOutcome } from '@quicksilver/jobs';
import type { CloseWork } from './close-work.ts';
import type { Outcomes } from './outcomes.ts';

export interface CloseHandlerOptions {
  readonly slots: EngineSlots;
  readonly outcomes: Outcomes;
  readonly volume: string;
  readonly access: VolumeAccess;
  readonly lockDuration: number;
}

/** The only place where a flow is settled, however its writing ended. */
export class CloseHandler implements JobHandler<CloseData, TaskOutcome> {
  readonly schema = CloseData;
  readonly firstStage = 'prove';
  readonly cancelEnds = false;
  readonly #options: CloseHandlerOptions;

  constructor(options: CloseHandlerOptions) {
    this.#options = options;
  }

  async run(job: CloseData, ctx: JobContext): Promise<TaskOutcome> {
    const child = job.action === 'publish' ? await readChild(ctx) : {};
    if (!ctx.cancelSignal.aborted) {
      try {
        return await this.#close(job, child, { ctx, cancelled: false });
      } catch (err) {
        // Interrupted by a cancel: it is settled below. Anything else is the queue's to try again.
        if (!ctx.cancelSignal.aborted || ctx.signal.aborted) throw err;
      }
    }
    return this.#close(job, child, { ctx, cancelled: true });
  }

  async #close(
    job: CloseData,
    child: WrittenOrProblem,
    { ctx, cancelled }: { ctx: JobContext; cancelled: boolean },
  ): Promise<TaskOutcome> {
    const { slots, outcomes, volume, access, lockDuration } = this.#options;
    const params: CloseWork = { volume, access, lockDuration, job, ...child, cancelled };
    const signal = cancelled ? ctx.signal : AbortSignal.any([ctx.signal, ctx.cancelSignal]);
    let told: Promise<TaskOutcome> | undefined;
    const settled = await slots.run(
      { method: 'close', params },
      {
        signal,
        onProgress: ctx.onProgress,
        onEvent: (value) => {
          told ??= outcomes.tell(job.task.id, value);
          told.catch(() => {});
        },
      },
    );
    return (await told) ?? outcomes.tell(job.task.id, settled);
  }
}

interface WrittenOrProblem {
  readonly written?: CloneResult;
  readonly childProblem?: Problem;
}

/** What the writer left behind: its result, or why there is none. */
async function readChild(ctx: JobContext): Promise<WrittenOrProblem> {
  const { results, failures } = await ctx.children();
  const parsed = CloneResult.safeParse(results[0]);
  if (parsed.success) return { written: parsed.data };
  const reason = failures[0];
  if (reason !== undefined) return { childProblem: decodeProblem(reason, 'write') };
  return { childProblem: problemOf(new HgError('HG_INTERNAL', 'the writing left neither result nor reason'), 'write') };
}
