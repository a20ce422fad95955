import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveEngine } from '@quicksilver/app-kit/engine';
import { HgError, isHgErrorCode } from '@quicksilver/hg-types';
import { dieWithParent } from '@quicksilver/native';
import { CloneWork } from '../../src/clone-work.ts';

/** An engine whose source says what is to happen: `/sleep/5000`, `/busy/5000`, `/fail/HG_IO`, `/exit/137`, `/ok`. */
dieWithParent();

serveEngine({
  clone: async (params, { signal, onProgress }) => {
    const work = CloneWork.parse(params);
    appendFileSync(`${work.volume}/engines`, `${process.pid}\n`);
    const { source } = work.job;
    const [, what, how = ''] = (source.kind === 'bundle-file' ? source.path : source.url).split('/');
    const progress = (done: number) =>
      onProgress({ stage: 'write', files: { done, total: 2 }, bytes: { done, total: 2 } });
    progress(1);
    switch (what) {
      case 'sleep':
        await sleep(Number(how), undefined, { signal });
        break;
      case 'busy': {
        const end = Date.now() + Number(how);
        while (Date.now() < end);
        break;
      }
      case 'fail':
        throw new HgError(isHgErrorCode(how) ? how : 'HG_INTERNAL', 'as asked', { file: 'data/a.i' });
      case 'exit':
        process.exit(Number(how));
        break;
      case 'junk':
        return { nothing: 'useful' };
      default:
    }
    progress(2);
    return { fence: 3, staging: `${work.job.task.id}.3`, write: { v: 1, work } };
  },
});
