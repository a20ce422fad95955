export { ApiModule } from './api.module.ts';
export { ApiConfig } from './config.ts';
export { configureApp } from './configure-app.ts';
export { type ControlPlane, startControlPlane } from './control-plane.ts';
