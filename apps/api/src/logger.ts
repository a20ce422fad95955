import type { createLogger } from '@quicksilver/app-kit';

export type Logger = ReturnType<typeof createLogger>;
