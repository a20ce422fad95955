import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Answer, MirrorsService } from '../control/mirrors.service.ts';
import { readNameCursor, writeCursor } from '../domain/cursor.ts';
import { ApiAnswer, ApiProblems } from './api-docs.ts';
import {
  Accepted,
  ChangeMirror,
  CreateMirror,
  MirrorDetail,
  MirrorList,
  MirrorName,
  MirrorQuery,
  MirrorView,
} from './schemas.ts';
import { mirrorDetail, mirrorView, taskView } from './views.ts';

@ApiTags('mirrors')
@Controller('v1/mirrors')
export class MirrorsController {
  readonly #mirrors: MirrorsService;

  constructor(mirrors: MirrorsService) {
    this.#mirrors = mirrors;
  }

  @Post()
  @ApiOperation({ summary: 'Make a mirror', description: 'Idempotent: the same name and source again is `merged`.' })
  @ApiAnswer(202, Accepted, '`created`: a task was made')
  @ApiAnswer(200, Accepted, '`merged`: the mirror exists with this source; its current or last task')
  @ApiProblems(400, 403, 409, 422)
  async create(
    @Body({ schema: CreateMirror }) wish: CreateMirror,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Accepted> {
    return accepted(await this.#mirrors.create(wish), response);
  }

  @Get()
  @ApiOperation({ summary: 'List mirrors', description: 'By name. Retired ones only when asked for by `state`.' })
  @ApiAnswer(200, MirrorList)
  @ApiProblems(400)
  async list(@Query({ schema: MirrorQuery }) query: MirrorQuery): Promise<MirrorList> {
    const { state, cursor, limit } = query;
    const found = await this.#mirrors.list({ state, after: readNameCursor(cursor), limit: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items: items.map(mirrorView), next: found.length > limit && last ? writeCursor(last.name) : null };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Show a mirror', description: 'The name is one segment: `mozilla%2Fcentral`.' })
  @ApiAnswer(200, MirrorDetail)
  @ApiProblems(404)
  async show(@Param('name', { schema: MirrorName }) name: string): Promise<MirrorDetail> {
    const { mirror, task } = await this.#mirrors.show(name);
    return mirrorDetail(mirror, task);
  }

  @Patch(':name')
  @ApiOperation({
    summary: 'Change source, level of proof or settings',
    description:
      'Works in every state. Nothing is cloned by itself: ask for it. A clone under way goes on as it was asked.',
  })
  @ApiAnswer(200, MirrorView)
  @ApiProblems(400, 403, 404, 422)
  async change(
    @Param('name', { schema: MirrorName }) name: string,
    @Body({ schema: ChangeMirror }) change: ChangeMirror,
  ): Promise<MirrorView> {
    return mirrorView(await this.#mirrors.change(name, change));
  }

  @Post(':name/clone')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Clone again: a new generation from its source',
    description: 'The generation that is served goes on being served until the new one is published.',
  })
  @ApiAnswer(202, Accepted, '`created`: a task was made')
  @ApiAnswer(200, Accepted, '`merged`: such a clone is wanted or under way')
  @ApiProblems(400, 404, 409)
  async clone(
    @Param('name', { schema: MirrorName }) name: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Accepted> {
    return accepted(await this.#mirrors.clone(name), response);
  }

  @Delete(':name')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Retire a mirror',
    description:
      'Its link goes at once when the task is done, its generations after a grace time. Clones of it are cancelled.',
  })
  @ApiAnswer(202, Accepted, '`created`: a task was made')
  @ApiAnswer(200, Accepted, '`merged`: it is being retired, or is retired already')
  @ApiProblems(404)
  async retire(
    @Param('name', { schema: MirrorName }) name: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Accepted> {
    return accepted(await this.#mirrors.retire(name), response);
  }
}

function accepted({ outcome, mirror, task }: Answer, response: Response): Accepted {
  response.status(outcome === 'created' ? 202 : 200);
  return { outcome, mirror: mirrorView(mirror), task: task ? taskView(task) : null };
}
