import { Command, InvalidArgumentError, Option } from 'commander';
import type { CloneFlags } from '../commands/clone.ts';
import type { DemoFlags } from '../commands/demo.ts';
import type { InspectFlags } from '../commands/inspect.ts';
import type { UpFlags } from '../commands/up.ts';
import type { InitFlags } from '../commands/volume.ts';
import type { CommonFlags } from './session.ts';
import { version } from './version.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C (128 + signal).
QUICKSILVER_DEBUG=1 adds the stack to an error.`;

/**
 * The command line. Bodies are imported when their command runs, so that `--version` and errors of usage cost nothing.
 * `done` is given the exit code.
 */
export function buildProgram(done: (code: number) => void): Command {
  const program = new Command('quicksilver')
    .description('Provisions Mercurial mirrors: clones stream bundles as fast as the disk allows.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('(--help lists what there is)');

  common(program.command('clone'))
    .argument('<SOURCE>', 'a stream clone bundle: a file or an http(s) address', path)
    .argument('<DEST>', 'where the repository goes: a new path, or an empty directory', path)
    .description('make a repository from a bundle, without a queue')
    .addOption(stream())
    .option('--checkout [REV]', 'also make a working copy (not supported yet)')
    .addOption(verify())
    .option('--digest <DIGEST>', 'what a fetched bundle must have: sha256:HEX or sha512:HEX')
    .option('--threads <N>', 'writer threads, or "auto"', threads, 'auto')
    .option('--memory-target <SIZE>', 'bytes in flight, such as 512K or 64M (default: 64M)', size)
    .addOption(backgroundClose())
    .option('--closers <N>', 'closer threads (default: 4; with "auto" up to 16 where close is very slow)', closers)
    .option('--no-flush', 'do not wait until the disk has it all')
    .action(async (source: string, dest: string, flags: CloneFlags) => {
      const { clone } = await import('../commands/clone.ts');
      done(await clone(source, dest, flags));
    });

  common(program.command('inspect'))
    .argument('<BUNDLE>', 'a bundle file', path)
    .description("show a bundle's header, parts and parameters; with --json also every streamed file")
    .action(async (bundle: string, flags: InspectFlags) => {
      const { inspect } = await import('../commands/inspect.ts');
      done(await inspect(bundle, flags));
    });

  const volume = program
    .command('volume')
    .description('make or look at a volume, without a service')
    .helpCommand(false);
  common(volume.command('init'))
    .argument('<DIR>', 'a new or empty directory', path)
    .description('make a directory a volume, for QUICKSILVER_VOLUMES')
    .option('--name <NAME>', 'what it is called there: lower-case letters, digits and "-"', 'main')
    .action(async (dir: string, flags: InitFlags) => {
      const { volumeInit } = await import('../commands/volume.ts');
      done(await volumeInit(dir, flags));
    });
  common(volume.command('scan'))
    .argument('<DIR>', 'the volume, for example DATA/volume of "up"', path)
    .description('list the mirrors of a volume with their generations')
    .action(async (dir: string, flags: CommonFlags) => {
      const { volumeScan } = await import('../commands/volume.ts');
      done(await volumeScan(dir, flags));
    });

  common(program.command('up'))
    .description('run everything on this machine: API, writer, closer and, unless REDIS_URL is set, Redis')
    .option(
      '--data <DIR>',
      'where to keep database, queue, volume and logs (default: QUICKSILVER_DATA or ~/.local/share/quicksilver)',
    )
    .option('--port <PORT>', 'port of the API, 0 for any free one (default: QUICKSILVER_PORT or 7080)', port)
    .action(async (flags: UpFlags) => {
      const { up } = await import('../commands/up.ts');
      done(await up(flags));
    });

  common(program.command('demo'))
    .description('start everything, provision a mirror over HTTP, check it, stop')
    .option('--data <DIR>', 'keep it there (default: a new directory below the temporary one)')
    .option('--port <PORT>', 'port of the API (default: any free one)', port)
    .action(async (flags: DemoFlags) => {
      const { demo } = await import('../commands/demo.ts');
      done(await demo(flags));
    });

  return program;
}

function common(command: Command): Command {
  return command
    .option('--json', 'JSON lines on stdout')
    .option('-q, --quiet', 'no progress')
    .allowExcessArguments(false);
}

/** An empty one, as an unset variable gives it, would mean the current directory. */
function path(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

const stream = () =>
  new Option('--stream <POLICY>', 'use stream clones ("never" is not supported yet)')
    .choices(['auto', 'require', 'never'])
    .default('auto');

const verify = () =>
  new Option('--verify <LEVEL>', 'how much to prove before it is shown (only quick so far)')
    .choices(['quick', 'sample', 'full'])
    .default('quick');

const backgroundClose = () =>
  new Option('--background-close <WHEN>', 'close files by threads of their own')
    .choices(['off', 'on', 'auto'])
    .default('auto');

const MOST_THREADS = 64;
const LEAST_MEMORY = 65_536;

function threads(text: string): number | 'auto' {
  return text === 'auto' ? text : threadCount(text, ', or "auto"');
}

function closers(text: string): number {
  return threadCount(text);
}

function threadCount(text: string, also = ''): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MOST_THREADS) throw new InvalidArgumentError(`It is 1 to ${MOST_THREADS}${also}.`);
  return count;
}

function size(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})([KMG]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
  if (digits === '' || bytes < LEAST_MEMORY) throw new InvalidArgumentError('It is 64K or more, such as 512K or 64M.');
  return bytes;
}

function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (number > 65_535) throw new InvalidArgumentError('It is 0 to 65535.');
  return number;
}
