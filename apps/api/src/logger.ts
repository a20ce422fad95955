export type { Logger } from '@quicksilver/app-kit';
