import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Concurrency, type ConcurrencyReport } from '../control/concurrency.ts';
import { ApiAnswer, ApiProblems } from './api-docs.ts';
import { ChangeConcurrency, ConcurrencyView, QueueName } from './schemas.ts';

@ApiTags('queues')
@Controller('v1/queues')
export class QueuesController {
  readonly #concurrency: Concurrency;

  constructor(concurrency: Concurrency) {
    this.#concurrency = concurrency;
  }

  @Get(':queue/concurrency')
  @ApiOperation({ summary: 'Show how many jobs of a queue run at once', description: 'Wanted and effective numbers.' })
  @ApiAnswer(200, ConcurrencyView)
  @ApiProblems(404)
  async show(@Param('queue', { schema: QueueName }) queue: string): Promise<ConcurrencyReport> {
    return this.#concurrency.report(queue);
  }

  @Put(':queue/concurrency')
  @ApiOperation({
    summary: 'Change how many jobs of a queue run at once',
    description: 'Takes effect live and is kept. A field that is left out stays as it is; null takes its limit away.',
  })
  @ApiAnswer(200, ConcurrencyView)
  @ApiProblems(400, 404)
  async change(
    @Param('queue', { schema: QueueName }) queue: string,
    @Body({ schema: ChangeConcurrency }) change: ChangeConcurrency,
  ): Promise<ConcurrencyReport> {
    return this.#concurrency.change(queue, change);
  }
}
