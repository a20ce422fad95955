import { describe, expect, it } from '@jest/globals';
import type { Progress } from '@quicksilver/jobs';
import { TaskEvents } from '../src/control/task-events.ts';

const taskId = '9b2f6f2e-5d7e-4c7a-9a57-2f7f6f1f8a01';
const progress = (stage: Progress['stage'], done: number): Progress => ({
  v: 1,
  taskId,
  stage,
  files: { done, total: 9 },
  bytes: { done, total: 9 },
  rate: 0,
  at: 1,
});

describe('TaskEvents', () => {
  it('K075: holds back progress within a stage, and tells a new stage at once', () => {
    using events = new TaskEvents(60_000);
    const heard: string[] = [];
    events.subscribe(taskId, (notice) => {
      heard.push(notice.kind === 'progress' ? `${notice.progress.stage} ${notice.progress.files.done}` : 'state');
    });
    for (const done of [1, 2, 3]) events.progress(progress('write', done));
    events.progress(progress('seal', 3));
    events.progress(progress('seal', 4));
    expect(heard).toEqual(['write 1', 'seal 3']);
    expect(events.last(taskId)).toEqual(progress('seal', 4));
    events.settled(taskId);
    expect(heard).toEqual(['write 1', 'seal 3', 'state']);
  });
});
