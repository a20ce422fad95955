export { EXIT } from './cli/exit-codes.ts';
export { buildProgram } from './cli/program.ts';
