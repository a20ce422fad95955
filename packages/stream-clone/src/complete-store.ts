import { DUMMY_CHANGELOG, encodeRequirements, planRequirements } from '@quicksilver/store';
import { checkSideFiles } from './side-files.ts';
import type { StoreSink } from './store-sink.ts';
import type { Warnings } from './warnings.ts';

/**
 * Makes a repository of the store's files: their list, and what a reader must know. Requirements come last, so that
 * before everything else is right no Mercurial takes the directory for a repository. Returns all requirements.
 */
export function completeStore(stream: StoreSink, warnings: Warnings, root: string): string[] {
  const { plan: announced, entries, probe, writer } = stream;
  checkSideFiles(root, (name) => entries.hasStoreFile(name));
  const plan = planRequirements(announced.requirements, [...probe.requirements, ...entries.requirements]);
  if (plan.completed.length > 0) {
    warnings.add(`the stream does not name requirements that its bytes have: ${plan.completed.join(', ')}`);
  }
  if (plan.ignored.length > 0) {
    warnings.add(`the stream names requirements that are decided here: ${plan.ignored.join(', ')}`);
  }
  if (entries.fncache.some((piece) => piece.length > 0)) writer.writeWhole('.hg/store/fncache', entries.fncache);
  writer.writeWhole('.hg/00changelog.i', [DUMMY_CHANGELOG]);
  writer.writeWhole('.hg/store/requires', [encodeRequirements(plan.store)]);
  writer.writeWhole('.hg/requires', [encodeRequirements(plan.workingCopy)]);
  return [...plan.workingCopy, ...plan.store].sort();
}
