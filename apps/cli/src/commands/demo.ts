import type { UpFlags } from './up.ts';

export type DemoFlags = UpFlags;

export async function demo(_flags: DemoFlags): Promise<number> {
  return 0;
}
