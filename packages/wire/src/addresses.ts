import { BlockList, isIPv4, isIPv6 } from 'node:net';

/*
 * Which addresses lie in the public network (IANA's registries of special-purpose addresses). What embeds a v4 address
 * is judged by that one, since it is where the packets end.
 */

const SPECIAL_V4 = blockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);

/** Within 2000::/3; everything outside is special. Teredo (2001::/32) lies in the first one. */
const SPECIAL_V6 = blockList('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
]);

/** What others may connect to without being inside the network that this machine is in. */
export function isPublicAddress(given: string): boolean {
  const address = given.replace(/%.*$/, ''); // the zone of a v6 address does not count
  if (isIPv4(address)) return !SPECIAL_V4.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  const words = wordsOf(address);
  const embedded = embeddedV4(words);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return ((words[0] ?? 0) & 0xe000) === 0x2000 && !SPECIAL_V6.check(address, 'ipv6');
}

/** The v4 address in a mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96) or 6to4 (2002::/16) one. */
function embeddedV4(words: readonly number[]): string | undefined {
  const head = words.slice(0, 6).join(',');
  if (head === '0,0,0,0,0,65535' || head === '100,65435,0,0,0,0') return dotted(words[6], words[7]);
  return words[0] === 0x2002 ? dotted(words[1], words[2]) : undefined;
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight words of a v6 address. */
function wordsOf(address: string): number[] {
  // The URL parser gives the one spelling without dotted parts.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const left = words(head);
  const right = words(tail ?? '');
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function words(text: string): number[] {
  return text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
}

function blockList(family: 'ipv4' | 'ipv6', nets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of nets) list.addSubnet(net, prefix, family);
  return list;
}
