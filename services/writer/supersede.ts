import type { Intent, Write } from '#libs/events'

/**
 * Whether a newer intent makes a waiting older one for the same target superfluous. Intents are decided from the whole
 * state, so the newer of two of a kind says everything that the older one said:
 * - a create takes the place of a create, a bind of a bind, a replacement of a replacement;
 * - a patch takes the place of a patch of the same subresource, whatever its type;
 * - a delete takes the place of a delete with the same uid, and of patches of the main resource with that uid. Status
 *   patches stay: how a pod ended must be told before it goes, or its owner counts it as failed;
 * - an announcement takes the place of one only if it carries its own count, else the older one's would be lost.
 *
 * Everything else stands side by side, in the order of the log.
 */
export function replaces(newer: Intent, older: Intent): boolean {
  return replacesWrite(newer.write, older.write)
}

function replacesWrite(newer: Write, older: Write): boolean {
  switch (newer.op) {
    case 'create':
    case 'bind':
    case 'replace':
      return older.op === newer.op
    case 'patch':
      return older.op === 'patch' && older.subresource === newer.subresource
    case 'delete':
      if (older.op === 'patch') return older.subresource === undefined && older.uid === newer.uid
      return older.op === 'delete' && older.uid === newer.uid
    case 'announce':
      return older.op === 'announce' && typeof newer.body['count'] === 'number'
  }
}
