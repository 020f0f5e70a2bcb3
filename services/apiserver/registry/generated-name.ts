/** Without vowels and look-alikes, as Kubernetes generates names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MAX_LENGTH = 63

/** `generateName` cut to size and five random letters. */
export function generateName(base: string, random: () => number): string {
  let suffix = ''
  for (let index = 0; index < SUFFIX_LENGTH; index++) suffix += ALPHABET[Math.floor(random() * ALPHABET.length)] ?? 'x'
  return base.slice(0, MAX_LENGTH - SUFFIX_LENGTH) + suffix
}
