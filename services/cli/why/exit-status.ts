import type { Verdict } from '#libs/explain'

/** Exit status of a question, for scripts: both sides agree, they do not for a reason that is known, or nobody can tell. */
export const EXIT = { inSync: 0, notInSync: 1, usage: 2, cannotTell: 3 } as const

export function exitStatusOf({ isInSync }: Pick<Verdict, 'isInSync'>): number {
  if (isInSync === 'unknown') return EXIT.cannotTell
  return isInSync ? EXIT.inSync : EXIT.notInSync
}
