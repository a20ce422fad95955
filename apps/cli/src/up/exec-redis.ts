/**
 * Becomes another program that ends with its parent: the wish is kept across exec, so Redis never outlives `up`.
 *   node exec-redis.js PROGRAM [ARGUMENT...]
 */
import './die-with-parent.ts';

const [program, ...args] = process.argv.slice(2);
if (!program) throw new Error('exec-redis: a program is needed');
if (!process.execve) throw new Error('exec-redis: this Node has no execve');
process.execve(program, [program, ...args], process.env);
