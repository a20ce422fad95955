import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthModule } from '../health/health.module.ts';
import { HealthRegistry } from '../health/health-registry.ts';
import { createMetrics } from '../health/metrics.ts';
import type { TaskPayload } from './job-handler.ts';
import { JobMetrics } from './job-metrics.ts';
import { JobService, type JobServiceOptions } from './job-service.ts';

@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a Nest dynamic module
export class JobServiceModule {
  /** A data-plane service as one Nest module: health server, metrics, and the workers of the configured volumes. */
  static forRoot<Data extends TaskPayload, Result>(
    service: string,
    options: JobServiceOptions<Data, Result>,
  ): DynamicModule {
    return {
      module: JobServiceModule,
      imports: [HealthModule.forRoot({ health: new HealthRegistry(), metrics: createMetrics(service) })],
      providers: [
        {
          provide: JobService,
          useFactory: (health: HealthRegistry, metrics: Registry) =>
            new JobService(options, health, new JobMetrics(metrics)),
          inject: [HealthRegistry, Registry],
        },
      ],
      exports: [JobService],
    };
  }
}
