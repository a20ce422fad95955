/**
 * Loaded before a service's own code (`node --import`): the kernel ends it when `up` ends, whatever ended `up`.
 */
import { dieWithParent } from '@quicksilver/native';

const parent = Number(process.env.QUICKSILVER_PARENT);
if (Number.isInteger(parent) && parent > 0) dieWithParent(parent);
