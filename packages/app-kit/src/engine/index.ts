export { type EngineContext, type EngineHandler, serveEngine } from './serve-engine.ts';
export { VolumeAccess } from './volume-access.ts';
