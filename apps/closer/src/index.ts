export { type CloserOptions, closerService } from './closer-service.ts';
export { CloserConfig } from './config.ts';
