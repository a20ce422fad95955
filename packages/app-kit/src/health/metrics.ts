import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry of its own per service: nothing is registered at import. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
