export { type BytesErrorCode, CodedError, type Where } from './coded-error.ts';
