import { describe, expect, it } from '@jest/globals';
import { PlainProgress, type ProgressUpdate, progressFor, TerminalProgress } from '../../src/terminal/progress.ts';

const MB = 1_000_000;
const update = (done: number, extra: Partial<ProgressUpdate> = {}): ProgressUpdate => ({
  stage: 'write',
  files: { done, total: 100 },
  bytes: { done: done * MB, total: 100 * MB },
  ...extra,
});

function terminal(columns?: number) {
  let text = '';
  let now = 0;
  const out = { isTTY: true, columns, write: (part: string) => (text += part) };
  return { view: new TerminalProgress(out, () => now), at: (ms: number) => (now = ms), text: () => text, out };
}

describe('progress on a terminal', () => {
  it('shows share, sizes, rate and the time that is left', () => {
    const { view, at, text } = terminal(200);
    view.update(update(0));
    at(1000);
    view.update(update(25));
    expect(text()).toContain('25%  25.0 MB of 100 MB  25 of 100 files  25.0 MB/s  3.0 s left');
    expect(text().split('\r\x1b[K')).toHaveLength(3);
  });

  it('shows a download by what has come, also where nobody says how much there is', () => {
    const { view, at, text } = terminal(200);
    const fetching = (done: number, total: number): ProgressUpdate => ({
      stage: 'fetch',
      files: { done: 0, total: 0 },
      bytes: { done: done * MB, total: total * MB },
    });
    view.update(fetching(0, 100));
    at(1000);
    view.update(fetching(25, 100));
    expect(text()).toContain('25%  25.0 MB of 100 MB  25.0 MB/s  3.0 s left');
    at(2000);
    view.update(fetching(50, 0));
    expect(text().split('\x1b[K').at(-1)).toBe('fetch    50.0 MB  25.0 MB/s');
  });

  it('draws at most ten times a second, however often it is told', () => {
    const { view, at, text } = terminal();
    for (let ms = 0; ms < 1000; ms += 1) {
      at(ms);
      view.update(update(ms / 10));
    }
    expect(text().split('\r').length - 1).toBe(10);
  });

  it('never fills the last column, so that the line can be cleared', () => {
    const { view, text } = terminal(40);
    view.update(update(50, { note: 'waiting for a holder with a very long name indeed' }));
    expect(text().replace('\r\x1b[K', '').length).toBeLessThan(40);
  });

  it.each([80, 60])('shows rate and time left of a large clone also in %i columns', (columns) => {
    const { view, at, text } = terminal(columns);
    const at110k = (done: number) => update(done, { files: { done: done * 1100, total: 110_046 } });
    view.update(at110k(0));
    at(1000);
    view.update(at110k(25));
    expect(text().split('\x1b[K').at(-1)).toMatch(/25% {2}25\.0 MB of 100 MB {2}25\.0 MB\/s {2}3\.0 s left$/);
  });

  it('escapes what a foreign text might do to a terminal', () => {
    const { view, text } = terminal(200);
    view.update(update(50, { note: 'held by \x1b[31mevil' }));
    expect(text()).toContain('held by \\x1b[31mevil');
  });

  it('leaves a clean line behind, and nothing where nothing was drawn', () => {
    const { view, text } = terminal();
    view.end();
    expect(text()).toBe('');
    view.update(update(1));
    view.end();
    expect(text().endsWith('\r\x1b[K')).toBe(true);
  });

  it('counts the rate of each stage alone, and survives totals of nothing', () => {
    const { view, at, text } = terminal(200);
    view.update(update(90));
    at(1000);
    view.update(update(0, { stage: 'prove', files: { done: 0, total: 0 }, bytes: { done: 0, total: 0 } }));
    expect(text().split('\x1b[K').at(-1)?.trim()).toBe('prove');
  });

  it('measures what comes after writing by pieces, since all bytes are there by then', () => {
    const { view, text } = terminal(200);
    view.update(update(100, { stage: 'prove', files: { done: 30, total: 120 } }));
    expect(text()).toContain('25%');
    expect(text()).not.toContain('MB');
  });
});

describe('progress where there is no terminal', () => {
  it('says nothing about work of a few seconds and a line every ten of longer work', () => {
    let now = 0;
    const lines: string[] = [];
    const view = new PlainProgress({ write: (line: string) => lines.push(line) }, () => now);
    for (; now <= 25_000; now += 100) view.update(update(now / 1000));
    view.end();
    expect(lines).toEqual([
      'write: 10% of 100 MB, 1.00 MB/s, 1:30 left\n',
      'write: 20% of 100 MB, 1.00 MB/s, 1:20 left\n',
    ]);
  });

  it('is chosen for pipes and for terminals that cannot clear a line', () => {
    const write = () => {};
    expect(progressFor({ isTTY: true, write }, { TERM: 'xterm' })).toBeInstanceOf(TerminalProgress);
    expect(progressFor({ isTTY: true, write }, { TERM: 'dumb' })).toBeInstanceOf(PlainProgress);
    expect(progressFor({ write }, {})).toBeInstanceOf(PlainProgress);
  });
});
