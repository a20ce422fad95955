import { waitFor } from '@quicksilver/testing';
import type { Service } from './service.ts';

export interface Readiness {
  readonly status: number;
  readonly text: string;
}

/** What `/readyz` says; status 0 where nothing answers. */
export async function readiness(service: Service): Promise<Readiness> {
  try {
    const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(8000) });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

/** Waits until a service says that it is (not) ready; returns what it said. */
export async function untilReady(service: Service, ready: boolean, deadline = 30_000): Promise<Readiness> {
  return waitFor(
    async () => {
      const seen = await readiness(service);
      if ((seen.status === 200) === ready && seen.status !== 0) return seen;
      throw new Error(`${seen.status} ${seen.text}`);
    },
    { deadline, interval: 100, what: `${service.app} to be ${ready ? 'ready' : 'not ready'}` },
  );
}
