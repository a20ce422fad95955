import { CommanderError } from 'commander';
import { EXIT } from './cli/exit-codes.ts';
import { debugText, describeFailure } from './cli/faults.ts';
import { buildProgram } from './cli/program.ts';

/** A reader that has seen enough (`| head`) closes the pipe: not a fault, and no reason to stop a clone. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (err: NodeJS.ErrnoException) => {
    if (err.code !== 'EPIPE') throw err;
  });
}

function die(err: unknown): never {
  process.stderr.write(`quicksilver: ${describeFailure(err).text}\n`);
  if (process.env.QUICKSILVER_DEBUG === '1') process.stderr.write(`${debugText(err)}\n`);
  process.exit(EXIT.failed);
}
process.on('uncaughtException', die);
process.on('unhandledRejection', die);

// The value is optional and only taken after '=', so that `clone --checkout SOURCE DEST` keeps its SOURCE.
const words = process.argv.slice(2).map((word) => (word === '--checkout' ? '--checkout=tip' : word));
let exitCode: number = EXIT.ok;
const program = buildProgram((code) => {
  exitCode = code;
});
program.exitOverride();
for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
  command.exitOverride().showHelpAfterError('(--help lists what there is)');
}

try {
  if (words.length === 0) program.outputHelp();
  else await program.parseAsync(words, { from: 'user' });
} catch (err) {
  if (!(err instanceof CommanderError)) die(err);
  // Help and version that were asked for come here too, with 0. All else that commander refuses is usage.
  exitCode = err.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
// Not left to the event loop: a thread or a connection that someone forgot must not keep a finished command alive.
process.exit(exitCode);
