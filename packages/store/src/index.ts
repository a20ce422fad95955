export { type Bookmark, encodeBookmarks, isBookmarkName, parseBookmarks } from './bookmarks.ts';
export { directoryDecode, directoryEncode } from './directory-encoding.ts';
export { displayName } from './display-name.ts';
export { DUMMY_CHANGELOG } from './dummy-changelog.ts';
export { encodeFncache, parseFncache } from './fncache.ts';
export { applyPhaseHeads, type ParentColumns, phasesOf, type RevPhase } from './phase-heads.ts';
export { encodePhaseRoots, type PhaseRoot, parsePhaseRoots } from './phase-roots.ts';
export {
  encodeRequirements,
  joinRequirements,
  parseRequirements,
  planRequirements,
  type RepositoryRequirements,
  type RequirementPlan,
} from './requirements.ts';
export { encodeStorePath, type PathEncoding } from './store-path.ts';
export { auditStreamName, type StreamNameKind, type VfsKey } from './stream-name.ts';
