import { BundleDigest, EngineSettings, Problem, Progress, VerifyLevel, VolumeName } from '@quicksilver/jobs';
import { z } from 'zod';
import {
  EVENT_TYPES,
  MIRROR_STATES,
  SHOWN_TASK_STATES,
  TASK_ACTIONS,
  TASK_OUTCOMES,
  TASK_STATES,
} from '../domain/lifecycle.ts';

/** Everything that crosses HTTP, once: requests are checked by these, answers and the OpenAPI page described by them. */

const TASK_ID = '0b9f6a34-3c43-4d3b-9d4e-2f5a3a1c8e77';
const AT = '2026-03-01T12:00:00.000Z';
const time = z.iso.datetime();
const names = z.string().min(1).max(1000);
const source = z
  .string()
  .min(1)
  .max(8192)
  .describe('Absolute path of a stream bundle, below a directory of QUICKSILVER_SOURCE_ROOTS, or its http(s) address.');
const digest = BundleDigest.optional().describe(
  'Of the bundle at an address, over the whole file: anything else is never used.',
);

export const CreateMirror = z
  .strictObject({
    name: names.describe('One or more segments; no name may be a path above or below another.'),
    source,
    digest,
    volume: VolumeName.optional().describe('Default: the first volume that is configured.'),
    verify: VerifyLevel.default('quick'),
    settings: EngineSettings.default({}),
  })
  .meta({ example: { name: 'mozilla/central', source: '/srv/bundles/central.hg', verify: 'quick' } });
export type CreateMirror = z.infer<typeof CreateMirror>;

export const ChangeMirror = z
  .strictObject({
    source: source.optional(),
    digest,
    verify: VerifyLevel.optional(),
    settings: EngineSettings.optional(),
  })
  .refine((change) => change.digest === undefined || change.source !== undefined, 'a digest comes with its source')
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'nothing to change: give source, verify or settings',
  )
  .meta({ example: { source: '/srv/bundles/central-2.hg' } });
export type ChangeMirror = z.infer<typeof ChangeMirror>;

const cursor = z.string().max(2000).optional().describe('`next` of the page before.');
const limit = z.coerce.number().int().min(1).max(200).default(50);

export const MirrorQuery = z.strictObject({
  state: z.enum(MIRROR_STATES).optional().describe('Without it: all but retired ones.'),
  cursor,
  limit,
});
export type MirrorQuery = z.infer<typeof MirrorQuery>;

export const TaskQuery = z.strictObject({
  mirror: names.optional(),
  state: z.enum(TASK_STATES).optional().describe('`admitted` includes those that show as `cancelling`.'),
  outcome: z.enum(TASK_OUTCOMES).optional(),
  cursor,
  limit,
});
export type TaskQuery = z.infer<typeof TaskQuery>;

const slots = z.int().min(1).max(1024).nullable();
export const ChangeConcurrency = z
  .strictObject({
    perWorker: slots.optional().describe('Slots per worker process; null: as the worker is configured.'),
    global: slots.optional().describe('Slots over all workers of the queue; null: no limit.'),
  })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'nothing to change: give perWorker or global',
  )
  .meta({ example: { perWorker: 5, global: 10 } });
export type ChangeConcurrency = z.infer<typeof ChangeConcurrency>;

const TaskSummary = z.strictObject({
  id: z.uuid(),
  mirror: z.string(),
  volume: z.string(),
  number: z.int().describe('Order in the lane of its mirror.'),
  action: z.enum(TASK_ACTIONS),
  state: z.enum(SHOWN_TASK_STATES),
  outcome: z.enum(TASK_OUTCOMES).nullable(),
  source: z.string().nullable(),
  generation: z.int().nullable().describe('What it published.'),
  problem: Problem.nullable(),
  createdAt: time,
  admittedAt: time.nullable(),
  settledAt: time.nullable(),
});

const taskExample = {
  id: TASK_ID,
  mirror: 'mozilla/central',
  volume: 'main',
  number: 1,
  action: 'clone',
  state: 'wanted',
  outcome: null,
  source: '/srv/bundles/central.hg',
  generation: null,
  problem: null,
  createdAt: AT,
  admittedAt: null,
  settledAt: null,
} as const;

export const TaskView = TaskSummary.meta({ id: 'Task', example: taskExample });
export type TaskView = z.infer<typeof TaskView>;

const alive = z.strictObject({ alive: z.boolean(), instances: z.int() });

export const TaskDetail = TaskSummary.extend({
  flow: z.int().describe('How many times it was handed to the queues; more than 1 after something was lost.'),
  progress: Progress.nullable().describe('The last that was heard.'),
  services: z
    .strictObject({ writer: alive, closer: alive })
    .nullable()
    .describe('Who is there to work on its volume, by heartbeats; null while Redis does not answer.'),
  history: z.array(z.strictObject({ at: time, type: z.enum(EVENT_TYPES), detail: z.record(z.string(), z.unknown()) })),
}).meta({
  id: 'TaskDetail',
  example: {
    ...taskExample,
    state: 'admitted',
    admittedAt: AT,
    flow: 1,
    progress: {
      v: 1,
      taskId: TASK_ID,
      stage: 'write',
      files: { done: 120, total: 4100 },
      bytes: { done: 1_048_576, total: 52_428_800 },
      rate: 104_857_600,
      at: Date.parse(AT),
    },
    services: { writer: { alive: true, instances: 1 }, closer: { alive: true, instances: 1 } },
    history: [{ at: AT, type: 'created', detail: { action: 'clone', number: 1 } }],
  },
});
export type TaskDetail = z.infer<typeof TaskDetail>;

const taskRef = z.strictObject({
  id: z.uuid(),
  action: z.enum(TASK_ACTIONS),
  state: z.enum(SHOWN_TASK_STATES),
  outcome: z.enum(TASK_OUTCOMES).nullable(),
});

const MirrorSummary = z.strictObject({
  name: z.string(),
  volume: z.string(),
  source: z.string().nullable(),
  verify: VerifyLevel,
  settings: EngineSettings,
  state: z.enum(MIRROR_STATES),
  generation: z.int().nullable().describe('The generation that is served, also while another is made.'),
  path: z.string().nullable().describe('Where hg and web servers find it.'),
  lastSuccess: time.nullable(),
  problem: Problem.nullable().describe(
    'What went wrong the last time; a mirror with a generation is served all the same.',
  ),
  createdAt: time,
  updatedAt: time,
});

const mirrorExample = {
  name: 'mozilla/central',
  volume: 'main',
  source: '/srv/bundles/central.hg',
  verify: 'quick',
  settings: {},
  state: 'ready',
  generation: 1,
  path: '/srv/quicksilver/mirrors/mozilla/central',
  lastSuccess: AT,
  problem: null,
  createdAt: AT,
  updatedAt: AT,
} as const;

export const MirrorView = MirrorSummary.meta({ id: 'Mirror', example: mirrorExample });
export type MirrorView = z.infer<typeof MirrorView>;

export const MirrorDetail = MirrorSummary.extend({
  receipt: z.record(z.string(), z.unknown()).nullable().describe('What is known of the generation that is served.'),
  task: taskRef.nullable().describe('Its current task, else its last one.'),
}).meta({
  id: 'MirrorDetail',
  example: {
    ...mirrorExample,
    receipt: { v: 1, generation: 1 },
    task: { id: TASK_ID, action: 'clone', state: 'settled', outcome: 'ready' },
  },
});
export type MirrorDetail = z.infer<typeof MirrorDetail>;

const next = z.string().nullable().describe('Cursor of the next page; null: there is none.');
export const MirrorList = z
  .strictObject({ items: z.array(MirrorView), next })
  .meta({ id: 'MirrorList', example: { items: [mirrorExample], next: null } });
export type MirrorList = z.infer<typeof MirrorList>;
export const TaskList = z
  .strictObject({ items: z.array(TaskView), next })
  .meta({ id: 'TaskList', example: { items: [taskExample], next: null } });
export type TaskList = z.infer<typeof TaskList>;

/** The answer of every POST and of DELETE of a mirror: what became of the request, and the task that does it. */
export const Accepted = z
  .strictObject({
    outcome: z.enum(['created', 'merged']),
    mirror: MirrorView,
    task: TaskView.nullable().describe('Null only for a mirror that never had one.'),
  })
  .meta({
    id: 'Accepted',
    example: {
      outcome: 'created',
      mirror: { ...mirrorExample, state: 'wanted', generation: null, path: null, lastSuccess: null },
      task: taskExample,
    },
  });
export type Accepted = z.infer<typeof Accepted>;

export const ConcurrencyView = z
  .strictObject({
    queue: z.string(),
    wanted: z.strictObject({ perWorker: slots, global: slots }),
    effective: z
      .strictObject({
        workers: z.array(
          z.strictObject({ instance: z.string(), host: z.string(), concurrency: z.int(), active: z.int() }),
        ),
        global: z.int().nullable(),
        total: z.int().describe('Jobs that can run at once: the sum over workers, cut at the global limit.'),
        active: z.int(),
      })
      .nullable()
      .describe('As it is now; null while Redis does not answer.'),
  })
  .meta({
    id: 'Concurrency',
    example: {
      queue: 'clone@main',
      wanted: { perWorker: 5, global: 10 },
      effective: {
        workers: [{ instance: 'a1', host: 'host-1', concurrency: 5, active: 2 }],
        global: 10,
        total: 5,
        active: 2,
      },
    },
  });

export const ProblemView = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('Stable: match on this.'),
    detail: z.string(),
    advice: z.string().describe('What to do next.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string(), allowed: z.array(z.string()).optional() }))
      .optional(),
    outcome: z.literal('refused').optional(),
    task: z.uuid().optional().describe('The task that stands in the way.'),
  })
  .meta({
    id: 'Problem',
    example: {
      type: 'urn:quicksilver:problem:hg-not-yet',
      title: 'Not supported yet',
      status: 422,
      code: 'HG_NOT_YET',
      detail: 'level of proof "full" is not supported yet',
      advice: 'Ask for one of: quick.',
      errors: [{ field: 'verify', message: 'level of proof "full" is not supported yet', allowed: ['quick'] }],
    },
  });

export const MirrorName = names.meta({ example: 'mozilla/central' });
export const TaskId = z.uuid().meta({ example: TASK_ID });
export const QueueName = z.string().max(200).meta({ example: 'clone@main' });
