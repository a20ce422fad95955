export { codeFacts, ERROR_CODES, type FaultClass, type HgErrorCode, isHgErrorCode } from './error-codes.ts';
export { describeFault, type FaultRecord, faultError, faultRecord, HgError, printable, toHgError } from './hg-error.ts';
export { hexNode, isNullNode, NODE_BYTES, type Node, NULL_REV, nodeFromHex, nullNode, type Rev } from './node.ts';
export { PHASE, type Phase } from './phase.ts';
export { IGNORABLE_REQUIREMENTS, LOCAL_REQUIREMENTS, STREAM_REQUIREMENTS } from './requirement-names.ts';
