import { Controller, type DynamicModule, Get, Header, Inject, Module, Res } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthRegistry, type HealthReport, type HealthScope } from './health-registry.ts';

/** The part of an HTTP response that is needed here, whichever adapter serves it. */
interface StatusResponse {
  status(code: number): unknown;
}

@Controller()
export class HealthController {
  readonly #health: HealthRegistry;
  readonly #metrics: Registry;

  constructor(@Inject(HealthRegistry) health: HealthRegistry, @Inject(Registry) metrics: Registry) {
    this.#health = health;
    this.#metrics = metrics;
  }

  /** This process works. For a supervisor that restarts what hangs: an outage of Redis must not restart services. */
  @Get('healthz')
  healthz(@Res({ passthrough: true }) response: StatusResponse): Promise<HealthReport> {
    return this.#report('health', response);
  }

  /** Work gets done here, as far as can be known; with the reason where not. */
  @Get('readyz')
  readyz(@Res({ passthrough: true }) response: StatusResponse): Promise<HealthReport> {
    return this.#report('ready', response);
  }

  @Get('metrics')
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.#metrics.metrics();
  }

  async #report(scope: HealthScope, response: StatusResponse): Promise<HealthReport> {
    const report = await this.#health.report(scope);
    if (report.status !== 'ok') response.status(503);
    return report;
  }
}

@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a Nest dynamic module
export class HealthModule {
  /** Serves /healthz, /readyz and /metrics; both registries can be injected by class everywhere. */
  static forRoot(options: { health: HealthRegistry; metrics: Registry }): DynamicModule {
    return {
      module: HealthModule,
      global: true,
      controllers: [HealthController],
      providers: [
        { provide: HealthRegistry, useValue: options.health },
        { provide: Registry, useValue: options.metrics },
      ],
      exports: [HealthRegistry, Registry],
    };
  }
}
