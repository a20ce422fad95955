export { type EngineContext, type EngineHandler, serveEngine } from './serve-engine.ts';
