import { CausewayError } from '#libs/kernel'

/** Stands for "no namespace" in a subject. Kubernetes names never contain it. */
export const NO_NAMESPACE = '_'

/** Characters that NATS gives a meaning (`.`, `*`, `>`), that it forbids (space and controls), and the escape itself. */
const unsafe = /[.*>%\s\p{Cc}]/gu

/**
 * Encodes a name as one subject token: unsafe characters become `%` and two hex digits per UTF-8 byte. The empty
 * string is not a token.
 * @throws CausewayError `SubjectInvalid` for an empty name
 */
export function encodeToken(name: string): string {
  if (name === '') throw new CausewayError('a subject token cannot be empty', { code: 'SubjectInvalid' })
  return name.replace(unsafe, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  )
}

/**
 * The inverse of {@link encodeToken}.
 * @throws CausewayError `SubjectInvalid` where an escape is broken
 */
export function decodeToken(token: string): string {
  if (!token.includes('%')) return token
  try {
    return decodeURIComponent(token)
  } catch (error) {
    throw new CausewayError(`subject token "${token}" has a broken escape`, { code: 'SubjectInvalid', cause: error })
  }
}
