import { stat } from 'node:fs/promises';
import { createMetrics, HealthRegistry, RedisGuard } from '@quicksilver/app-kit';
import { sql } from 'kysely';
import type { Registry } from 'prom-client';
import { type ApiConfig, slotsOf } from './config.ts';
import { Admission } from './control/admission.ts';
import { adoptVolumes } from './control/adopt-volumes.ts';
import { Concurrency } from './control/concurrency.ts';
import { ControlLoop } from './control/control-loop.ts';
import { ControlMetrics } from './control/control-metrics.ts';
import { MirrorsService } from './control/mirrors.service.ts';
import { Reconciler } from './control/reconciler.ts';
import { ServiceDirectory } from './control/service-directory.ts';
import { Settlement } from './control/settlement.ts';
import { TaskEvents } from './control/task-events.ts';
import { TasksService } from './control/tasks.service.ts';
import { type Database, openDatabase } from './database/open-database.ts';
import { TaskStreams } from './http/task-streams.ts';
import type { Logger } from './logger.ts';
import { BullFlowQueues, everyQueue } from './redis/flow-queues.ts';
import { QueueFeed } from './redis/queue-feed.ts';
import { RedisLink } from './redis/redis-link.ts';
import { RedisSignals } from './redis/signals.ts';

/** All parts of the control plane, put together; HTTP is laid over it by `ApiModule`. */
export interface ControlPlane extends AsyncDisposable {
  readonly db: Database;
  readonly mirrors: MirrorsService;
  readonly tasks: TasksService;
  readonly streams: TaskStreams;
  readonly concurrency: Concurrency;
  readonly health: HealthRegistry;
  readonly registry: Registry;
}

export async function startControlPlane(config: ApiConfig, logger: Logger): Promise<ControlPlane> {
  await using started = new AsyncDisposableStack();
  const volumes = config.QUICKSILVER_VOLUMES.map(({ name }) => name);
  const db = await openDatabase(config.QUICKSILVER_DATABASE);
  started.defer(() => db.destroy());
  const link = started.use(new RedisLink(config.REDIS_URL, logger));
  const flows = started.use(new BullFlowQueues(link));
  const signals = new RedisSignals(link);
  const directory = new ServiceDirectory(signals);
  const guard = new RedisGuard({ redis: link.commands, logger, override: config.QUICKSILVER_REDIS_POLICY_OVERRIDE });
  const health = new HealthRegistry();
  const registry = createMetrics('api');
  const metrics = new ControlMetrics(registry);
  const events = started.use(new TaskEvents());
  const settlement = new Settlement({ db, events, metrics, logger });
  const settle = (value: unknown) => {
    settlement.settle(value).catch((err: unknown) => logger.error({ err }, 'an outcome could not be recorded'));
  };
  const feed = started.use(
    new QueueFeed({
      url: config.REDIS_URL,
      logger,
      handlers: { progress: (data) => events.progress(data), closed: settle },
    }),
  );
  const admission = new Admission({
    db,
    flows,
    events,
    metrics,
    logger,
    volumes,
    slots: (volume) => slotsOf(config, volume),
    open: async () => link.up && (await guard.check()).ok,
  });
  const grace = config.QUICKSILVER_FLOW_GRACE;
  const reconciler = new Reconciler({ db, flows, signals, settlement, metrics, logger, grace });
  const concurrency = new Concurrency({ db, flows, signals, directory, volumes });
  const whileUp = (work: () => Promise<void>) => async () => (link.up ? work() : undefined);
  const loop = started.use(
    new ControlLoop({
      admit: () => admission.pass(),
      duties: {
        reconcile: whileUp(() => reconciler.check()),
        concurrency: whileUp(() => concurrency.reconcile()),
        feed: whileUp(() => feed.revive()),
      },
      interval: config.QUICKSILVER_TICK,
      logger,
    }),
  );
  const kick = () => loop.kick();
  settlement.onSettled(kick);
  const tasks = new TasksService({ db, flows, signals, directory, settlement, events });
  const sources = {
    roots: config.QUICKSILVER_SOURCE_ROOTS,
    isDirectory,
    allowPrivate: config.QUICKSILVER_ALLOW_PRIVATE_SOURCES,
  };
  const mirrors = new MirrorsService({ db, sources, volumes, tasks, kick });
  const streams = started.use(
    new TaskStreams({
      tasks,
      events,
      maxClients: config.QUICKSILVER_EVENT_CLIENTS,
      heartbeat: config.QUICKSILVER_EVENT_HEARTBEAT,
    }),
  );
  health.register('database', () => checkDatabase(db), 'health');
  health.register('redis', () => guard.ping(), 'ready');
  health.register('admission', () => loop.check(), 'health');
  health.register('duties', () => loop.checkDuties(), 'ready');
  health.register('redis-policy', () => guard.check(), 'ready');
  metrics.watch({
    db,
    depths: () => flows.depths(volumes),
    clients: () => streams.clients,
    roundAge: () => loop.roundAge,
  });
  for (const queue of everyQueue(volumes)) feed.follow(queue);
  signals.listen(settle).catch((err: unknown) => logger.error({ err }, 'outcomes are found by the tick only'));
  await adoptVolumes(db, config.QUICKSILVER_VOLUMES, logger);
  loop.start();
  const owned = started.move();
  return {
    db,
    mirrors,
    tasks,
    streams,
    concurrency,
    health,
    registry,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function checkDatabase(db: Database): Promise<{ ok: true }> {
  await sql`select 1`.execute(db);
  return { ok: true };
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
