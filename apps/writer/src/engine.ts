import { serveEngine } from '@quicksilver/app-kit/engine';
import { cloneToStaging, Volume } from '@quicksilver/mirror';
import { dieWithParent } from '@quicksilver/native';
import { CloneWork } from './clone-work.ts';

/** The engine process of a writer's slot. Even one that is busy to its last thread ends with its service. */
dieWithParent();

serveEngine({
  clone: async (params, { signal, onProgress }) => {
    const { volume, access, job, sourceRoots, lockDuration, settings, ...allowed } = CloneWork.parse(params);
    const { task, mirror, source } = job;
    const fetch = { allowPrivate: allowed.allowPrivateSources, limits: { maxBytes: allowed.maxDownload } };
    const request = { task, mirror: mirror.name, source, sourceRoots, settings, fetch };
    return cloneToStaging(await Volume.open(volume, { access }), request, { signal, onProgress, lockDuration });
  },
});
