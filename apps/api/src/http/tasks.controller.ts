import { Controller, Delete, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { TasksService } from '../control/tasks.service.ts';
import { readNumberCursor, writeCursor } from '../domain/cursor.ts';
import { ApiAnswer, ApiEventStream, ApiProblems } from './api-docs.ts';
import { TaskDetail, TaskId, TaskList, TaskQuery, TaskView } from './schemas.ts';
import { TaskStreams } from './task-streams.ts';
import { historyView, taskView } from './views.ts';

@ApiTags('tasks')
@Controller('v1/tasks')
export class TasksController {
  readonly #tasks: TasksService;
  readonly #streams: TaskStreams;

  constructor(tasks: TasksService, streams: TaskStreams) {
    this.#tasks = tasks;
    this.#streams = streams;
  }

  @Get()
  @ApiOperation({ summary: 'List tasks', description: 'Newest first.' })
  @ApiAnswer(200, TaskList)
  @ApiProblems(400)
  async list(@Query({ schema: TaskQuery }) query: TaskQuery): Promise<TaskList> {
    const { mirror, state, outcome, cursor, limit } = query;
    const before = readNumberCursor(cursor);
    const found = await this.#tasks.list({ mirror, state, outcome, before, limit: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items: items.map(taskView), next: found.length > limit && last ? writeCursor(last.seq) : null };
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Show a task',
    description: 'With its history, its last progress, and who is there to work on it.',
  })
  @ApiAnswer(200, TaskDetail)
  @ApiProblems(400, 404)
  async show(@Param('id', { schema: TaskId }) id: string): Promise<TaskDetail> {
    const { task, progress, history, services } = await this.#tasks.report(id);
    const presence = (instances: number) => ({ alive: instances > 0, instances });
    return {
      ...taskView(task),
      flow: task.flow,
      progress,
      services: services && { writer: presence(services.writer), closer: presence(services.closer) },
      history: historyView(history),
    };
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Cancel a task',
    description: 'In any state, any number of times. A task that is settled stays as it is.',
  })
  @ApiAnswer(200, TaskView, 'Settled: cancelled now, or settled before')
  @ApiAnswer(202, TaskView, '`cancelling`: a closer of its volume will settle it')
  @ApiProblems(400, 404)
  async cancel(
    @Param('id', { schema: TaskId }) id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaskView> {
    const task = await this.#tasks.cancel(id);
    response.status(task.state === 'settled' ? 200 : 202);
    return taskView(task);
  }

  @Get(':id/events')
  @ApiOperation({
    summary: 'Follow a task',
    description:
      'Server-sent events: `state` (a task, as in the list) now and at every change, `progress` at most once a second. ' +
      'Ends after the task is settled.',
  })
  @ApiHeader({ name: 'last-event-id', required: false, description: 'As browsers send it when they connect again.' })
  @ApiEventStream()
  @ApiProblems(400, 404, 503)
  async events(
    @Param('id', { schema: TaskId }) id: string,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    await this.#streams.open(id, response, lastEventId);
  }
}
