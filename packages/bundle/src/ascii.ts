/** Letter case counts in ASCII only: names are bytes, and a lower-cased "É" would be another byte. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function hasAsciiUpper(text: string): boolean {
  return /[A-Z]/.test(text);
}
