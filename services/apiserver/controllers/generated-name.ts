/** No vowels and no digits that read like them: generated names spell no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** A random suffix as the API server generates it. */
export function randomSuffix(random: () => number, length = 5): string {
  let suffix = ''
  for (let index = 0; index < length; index++) suffix += ALPHABET.charAt(Math.floor(random() * ALPHABET.length))
  return suffix
}

/** Maps every character of `text` into the alphabet of generated names. */
export function safeEncode(text: string): string {
  let encoded = ''
  for (let index = 0; index < text.length; index++) encoded += ALPHABET.charAt(text.charCodeAt(index) % ALPHABET.length)
  return encoded
}
