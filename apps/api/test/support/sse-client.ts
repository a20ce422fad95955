import { answerOf, problem } from './harness.ts';

export interface SseMessage {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

export interface SseClient {
  readonly messages: SseMessage[];
  readonly comments: string[];
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Listens to the events of a task; rejects with the problem when it is refused. */
export async function listen(url: string, taskId: string, headers: Record<string, string> = {}): Promise<SseClient> {
  const stop = new AbortController();
  const response = await fetch(`${url}/v1/tasks/${taskId}/events`, { headers, signal: stop.signal });
  if (response.status !== 200) throw new Error(`${response.status} ${problem(await answerOf(response)).code}`);
  const messages: SseMessage[] = [];
  const comments: string[] = [];
  const read = async () => {
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = `${rest}${chunk}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (block.startsWith(':')) comments.push(block);
        const fields = new Map(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
        );
        const data = fields.get('data');
        if (data !== undefined)
          messages.push({ event: fields.get('event') ?? '', id: fields.get('id'), data: JSON.parse(data) });
      }
    }
  };
  const ended = read().catch((err: unknown) => {
    if (!stop.signal.aborted) throw err;
  });
  return { messages, comments, ended, close: () => stop.abort() };
}
