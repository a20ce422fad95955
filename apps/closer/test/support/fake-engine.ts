import { appendFileSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveEngine } from '@quicksilver/app-kit/engine';
import { faultRecord, HgError } from '@quicksilver/hg-types';
import { CancelWork, CloseWork, JanitorWork, type SettledWork, SweepWork } from '../../src/close-work.ts';

/**
 * A mirror engine reduced to its promise: the first end of a task that is recorded is the end for all. The mirror's
 * name says what is to happen: `sleep-5000`, `busy-5000`, `retry-once`, `slow-trash`, `fail`, `ok`.
 */
function settle(volume: string, taskId: string, settled: SettledWork): SettledWork {
  const record = `${volume}/${taskId}.settled`;
  const own = `${record}.${process.pid}`;
  writeFileSync(own, JSON.stringify(settled));
  try {
    linkSync(own, record);
  } catch {
    // Settled already.
  }
  rmSync(own);
  return JSON.parse(readFileSync(record, 'utf8'));
}

const note = (volume: string, call: Record<string, unknown>) =>
  appendFileSync(`${volume}/calls`, `${JSON.stringify({ pid: process.pid, at: Date.now(), ...call })}\n`);

const cancelled: SettledWork = {
  state: 'cancelled',
  problem: { ...faultRecord(new HgError('HG_CANCELLED', 'the task was cancelled')), stage: 'cancel' },
};

serveEngine({
  close: async (params, { signal, onProgress, onEvent }) => {
    const { volume, job, written, childProblem, ...rest } = CloseWork.parse(params);
    const first = !readCalls(volume).includes(`"close","task":"${job.task.id}"`);
    note(volume, { call: 'close', task: job.task.id, action: job.action, written, childProblem, ...rest });
    const [what, how] = job.mirror.name.split('-');
    onProgress({ stage: 'prove', files: { done: 0, total: 0 }, bytes: { done: 0, total: 0 } });
    if (!rest.cancelled && what === 'sleep') await sleep(Number(how), undefined, { signal });
    if (!rest.cancelled && what === 'busy') {
      const end = Date.now() + Number(how);
      while (Date.now() < end);
    }
    if (what === 'retry' && first) throw new HgError('HG_LOCKED', 'the lane is held', { holder: 1 });
    if (what === 'fail') throw new HgError('HG_READ_ONLY', 'the volume cannot be written');
    const settled = settle(volume, job.task.id, outcomeOf());
    onEvent(settled);
    if (what === 'slow') await sleep(1000, undefined, { signal });
    return settled;

    function outcomeOf(): SettledWork {
      if (rest.cancelled) return cancelled;
      if (job.action === 'retire') return { state: 'ready' };
      if (written)
        return { state: 'ready', generation: 1, path: `${volume}/mirrors/x`, receipt: { fence: written.fence } };
      if (!childProblem) throw new HgError('HG_INTERNAL', 'neither result nor problem');
      return { state: 'failed', problem: childProblem };
    }
  },
  cancel: async (params, { onEvent }) => {
    const { volume, task } = CancelWork.parse(params);
    note(volume, { call: 'cancel', task: task.id });
    const settled = settle(volume, task.id, cancelled);
    onEvent(settled);
    return settled;
  },
  sweep: async (params, { signal }) => {
    note(SweepWork.parse(params).volume, { call: 'sweep' });
    await sleep(1500, undefined, { signal });
    return 1;
  },
  janitor: async (params, { signal }) => {
    const { volume, graceMs } = JanitorWork.parse(params);
    note(volume, { call: 'janitor', graceMs });
    await sleep(100, undefined, { signal });
    note(volume, { call: 'janitor-end' });
    return {};
  },
});

function readCalls(volume: string): string {
  try {
    return readFileSync(`${volume}/calls`, 'utf8');
  } catch {
    return '';
  }
}
