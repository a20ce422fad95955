export { WriterConfig } from './config.ts';
export { type WriterOptions, writerService } from './writer-service.ts';
