import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule } from '@quicksilver/app-kit';
import { Concurrency } from './control/concurrency.ts';
import { MirrorsService } from './control/mirrors.service.ts';
import { TasksService } from './control/tasks.service.ts';
import type { ControlPlane } from './control-plane.ts';
import { MirrorsController } from './http/mirrors.controller.ts';
import { QueuesController } from './http/queues.controller.ts';
import { TaskStreams } from './http/task-streams.ts';
import { TasksController } from './http/tasks.controller.ts';

/** HTTP over a control plane that was made before: nothing here knows how the parts are put together. */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a Nest dynamic module
export class ApiModule {
  static forPlane(plane: ControlPlane): DynamicModule {
    return {
      module: ApiModule,
      imports: [HealthModule.forRoot({ health: plane.health, metrics: plane.registry })],
      controllers: [MirrorsController, TasksController, QueuesController],
      providers: [
        { provide: MirrorsService, useValue: plane.mirrors },
        { provide: TasksService, useValue: plane.tasks },
        { provide: TaskStreams, useValue: plane.streams },
        { provide: Concurrency, useValue: plane.concurrency },
        // Closing the app closes the plane, after the last request is answered.
        { provide: 'plane', useFactory: () => new PlaneLifetime(plane) },
      ],
    };
  }
}

class PlaneLifetime {
  readonly #plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  /** Streams would keep the server from closing. */
  beforeApplicationShutdown(): void {
    this.#plane.streams[Symbol.dispose]();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#plane[Symbol.asyncDispose]();
  }
}
