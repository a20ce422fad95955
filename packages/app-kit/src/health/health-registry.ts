export interface HealthResult {
  readonly ok: boolean;
  /** For people: what is wrong. Never a credential or a stack. */
  readonly reason?: string;
}

/**
 * `health`: counts in /healthz and /readyz; a restart may help. `ready`: in /readyz only; it would not (Redis is away,
 * unfit settings, draining).
 */
export type HealthScope = 'health' | 'ready';

export interface HealthReport {
  readonly status: 'ok' | 'failing';
  readonly checks: Readonly<Record<string, HealthResult>>;
}

interface Check {
  readonly scope: HealthScope;
  readonly run: () => Promise<HealthResult> | HealthResult;
}

const CHECK_TIMEOUT_MS = 2000;

/** Named checks; a check that throws or takes too long has failed. */
export class HealthRegistry {
  readonly #checks = new Map<string, Check>();

  /** @returns a function that takes the check out again */
  register(name: string, run: Check['run'], scope: HealthScope = 'health'): () => void {
    if (this.#checks.has(name)) throw new Error(`health check registered twice: ${name}`);
    this.#checks.set(name, { scope, run });
    return () => this.#checks.delete(name);
  }

  async report(scope: HealthScope): Promise<HealthReport> {
    const wanted = [...this.#checks].filter(([, check]) => scope === 'ready' || check.scope === 'health');
    const results = await Promise.all(wanted.map(async ([name, check]) => [name, await settled(check)] as const));
    const failing = results.some(([, result]) => !result.ok);
    return { status: failing ? 'failing' : 'ok', checks: Object.fromEntries(results) };
  }
}

async function settled(check: Check): Promise<HealthResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HealthResult>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: 'no answer in time' }), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([Promise.resolve(check.run()), late]);
  } catch (err) {
    return { ok: false, reason: err instanceof Error ? err.message : 'failed' };
  } finally {
    clearTimeout(timer);
  }
}
