import { serveEngine } from '@quicksilver/app-kit/engine';
import { cancelTask, closeTask, runJanitor, sweepTrash, Volume } from '@quicksilver/mirror';
import { dieWithParent } from '@quicksilver/native';
import { CancelWork, CloseWork, JanitorWork, SweepWork } from './close-work.ts';

/** The engine process of a closer's slot. Even one that is busy to its last thread ends with its service. */
dieWithParent();

serveEngine({
  close: async (params, { signal, onProgress, onEvent }) => {
    const { volume, access, job, lockDuration, ...child } = CloseWork.parse(params);
    const { mirror, ...rest } = job;
    const ctx = { signal, onProgress, onSettled: onEvent, lockDuration };
    return closeTask(await Volume.open(volume, { access }), { ...rest, ...child, mirror: mirror.name }, ctx);
  },
  cancel: async (params, { signal, onEvent }) => {
    const { volume, access, task, mirror, lockDuration } = CancelWork.parse(params);
    const ctx = { signal, onSettled: onEvent, lockDuration, leaveTrash: true };
    return cancelTask(await Volume.open(volume, { access }), { task, mirror: mirror.name }, ctx);
  },
  sweep: async (params) => {
    const { volume, access } = SweepWork.parse(params);
    return sweepTrash(await Volume.open(volume, { access }));
  },
  janitor: async (params, { signal }) => {
    const { volume, access, graceMs } = JanitorWork.parse(params);
    return runJanitor(await Volume.open(volume, { access }), { graceMs, signal });
  },
});
