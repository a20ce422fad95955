import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultError } from '@quicksilver/hg-types';
import type { Progress } from '@quicksilver/jobs';
import { AdvisedError } from '../cli/faults.ts';
import { inSession, OK, Session } from '../cli/session.ts';
import { type Accepted, ApiClient, type Task } from '../demo/api-client.ts';
import { checkPublished, type Published } from '../demo/check.ts';
import { demoBundle } from '../demo/demo-bundle.ts';
import { launcherWord } from '../demo/launcher-word.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../terminal/format.ts';
import { DataDir } from '../up/data-dir.ts';
import { findProgram } from '../up/redis.ts';
import { Stack } from '../up/stack.ts';
import { initVolume } from '../up/volume.ts';
import type { UpFlags } from './up.ts';

export type DemoFlags = UpFlags;

const MIRROR = 'demo/cinnabar';

export function demo(flags: DemoFlags): Promise<number> {
  const session = new Session(flags, 'stopping the demo ...');
  return inSession(session, async () => {
    const bundle = demoBundle();
    const own = flags.data === undefined;
    const data = flags.data ?? mkdtempSync(join(tmpdir(), 'quicksilver-demo-'));
    try {
      await runDemo(session, { data, port: flags.port ?? 0, bundle });
      return OK;
    } catch (err) {
      // A directory of our own is kept for its logs where something failed, and removed where someone stopped it.
      if (own && session.signal.aborted) rmSync(data, { recursive: true, force: true });
      throw err;
    }
  });
}

interface DemoPlan {
  readonly data: string;
  readonly port: number;
  readonly bundle: { readonly path: string; readonly root: string };
}

async function runDemo(session: Session, plan: DemoPlan): Promise<void> {
  using dir = DataDir.open(plan.data);
  const began = performance.now();
  const since = () => formatDuration((performance.now() - began) / 1000);
  session.note(`starting API, writer, closer${process.env.REDIS_URL ? '' : ' and Redis'} in ${dir.path} ...`);
  const stack = await Stack.start({
    dir,
    port: plan.port,
    sourceRoots: [plan.bundle.root],
    env: process.env,
    tasks: false,
    say: (line) => session.note(line),
    signal: session.signal,
    initVolume,
  });
  try {
    dir.describe({ url: stack.url });
    session.note(`ready after ${since()} at ${stack.url}`);
    const published = await provision(session, new ApiClient(stack.url, session.signal), plan.bundle.path);
    report(session, { published, url: stack.url, data: dir.path, took: since() });
  } finally {
    session.note('stopping ...');
    await stack.stop();
  }
}

/** Asks for the mirror, follows its task, and looks at what came out. */
async function provision(session: Session, api: ApiClient, source: string): Promise<Published> {
  const request = { name: MIRROR, source, verify: 'quick' } as const;
  session.note(`POST /v1/mirrors ${JSON.stringify(request)}`);
  let accepted: Accepted = await api.createMirror(request);
  if (accepted.outcome === 'merged' && accepted.task?.state === 'settled') {
    session.note(`the mirror is there already: POST /v1/mirrors/${encodeURIComponent(MIRROR)}/clone`);
    accepted = await api.cloneAgain(MIRROR);
  }
  if (!accepted.task) throw faultError({ code: 'HG_INTERNAL', message: 'the API named no task' });
  session.note(`  ${accepted.outcome}, task ${accepted.task.id}`);
  const task = await follow(session, api, accepted.task.id);
  if (task.outcome !== 'ready') throw taskFailure(task);
  return checkPublished(await api.mirror(MIRROR));
}

async function follow(session: Session, api: ApiClient, id: string): Promise<Task> {
  let last: Task | undefined;
  let stage = '';
  for await (const event of api.events(id)) {
    if (event.kind === 'state') {
      last = event.task;
      session.endProgress();
      session.note(`  ${[last.state, last.outcome].filter(Boolean).join(': ')}`);
      continue;
    }
    session.progress(event.progress);
    // Each stage leaves a line: what is over within a second would otherwise not have been seen.
    if (event.progress.stage !== stage) {
      stage = event.progress.stage;
      session.endProgress();
      session.note(`  ${stageLine(event.progress)}`);
    }
  }
  session.endProgress();
  return last ?? api.task(id);
}

function stageLine({ stage, files, bytes, rate }: Progress): string {
  const parts: string[] = [stage];
  if (files.total > 0) parts.push(`${formatCount(files.done)} of ${formatCount(files.total)}`);
  if (stage === 'write') parts.push(`${formatBytes(bytes.done)} of ${formatBytes(bytes.total)}`);
  if (stage === 'write' && rate > 0) parts.push(`${formatBytes(rate)}/s`);
  return parts.join('  ');
}

function taskFailure(task: Task): Error {
  const { problem } = task;
  if (!problem) return faultError({ code: 'HG_CANCELLED', message: `the task was settled as ${task.outcome}` });
  const { code } = faultError(problem);
  return new AdvisedError(code, problem.message, {
    where: { stage: problem.stage, ...problem.where },
    advice: problem.advice,
  });
}

function report(session: Session, facts: { published: Published; url: string; data: string; took: string }): void {
  const { published, url, data, took } = facts;
  const { mirror, generation, path, receiptPath, files, bytes, seconds, changesets, heads, proof, flushed } = published;
  session.record('demo', { ...published, data, url });
  const quoted = shellQuoted(path);
  const quicksilver = shellQuoted(launcherWord(process.cwd(), process.env));
  const hg = findProgram('hg', process.env) ? '' : '   (hg is not on PATH here)';
  session.say(`
${mirror} is published as generation ${generation}, and checked:
  ${formatCount(files)} files, ${formatBytes(bytes)} written in ${formatDuration(seconds)} (${formatBytes(bytes / Math.max(seconds, 0.001))}/s)
  ${formatCount(changesets)} changesets, ${plural(heads.length, 'head')}: ${heads.map((head) => head.slice(0, 12)).join(' ')}
  proved (${proof.level}: ${proof.checks} checks)${flushed ? ', flushed to disk' : ''}, then shown by one rename
  mirror   ${path}
  receipt  ${receiptPath}
  whole demo ${took}

Look at it:    hg log -R ${quoted} -l 5${hg}
               hg verify -R ${quoted}
               (verify calls some old .hgsubstate files of this history corrupt: so they are in the original)
Go on with it: ${quicksilver} up --data ${shellQuoted(data)}
               then http://127.0.0.1:7080/docs is the API page
Run it again:  ${quicksilver} demo --data ${shellQuoted(data)}`);
}

/** Fit for pasting into a shell. */
function shellQuoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
