export { checkPatch } from './configured/check-patch.ts'
export { tellReport } from './configured/with-patches.ts'
export { withoutHostNames } from './host-words.ts'
export { withoutOwnLabels } from './own-labels-in-text.ts'
export {
  DEFINITIONS,
  customResourceInfo,
  fromHostResource,
  isCustomResource,
  toHostResource,
} from './custom-resources/resource.ts'

export { RULES } from './decision.ts'
export type { Decision, Rule } from './decision.ts'
export { serviceOfDerived } from './kinds/services/left-behind.ts'
export type {
  Kind,
  Mirror,
  Report,
  ReportInput,
  ReportSubject,
  PairInput,
  PairWrite,
  ToHost,
  TranslateInput,
} from './kind.ts'
export {
  hasOwnNamespaces,
  hostName,
  hostNamespaceFor,
  hostRefOf,
  isNamespaceMapped,
  tenantNameProblem,
} from './names.ts'
export type { TenantPlace } from './names.ts'
export {
  DECIDE_ORDER,
  KINDS,
  REPORTS,
  decideFor,
  decideRank,
  exclusionFor,
  followersOf,
  followsReference,
  informs,
  isDecided,
  isMirrored,
  isTwoSided,
  kindFor,
  kindNamed,
  kindsFollowing,
  mirrorFor,
  mirrorsUsedBy,
  translatorVersion,
  referencesOf,
  reportFor,
} from './registry.ts'
export { REACH, isClusterScoped, kindsEndedOn, watchedHost, watchedVirtual } from './reach.ts'
export type { HostKinds } from './reach.ts'
export { replacementMark, replacementOn } from './replacement.ts'
export type { Replacement } from './replacement.ts'

export {
  ANNOTATIONS,
  LABELS,
  OWN_PREFIX,
  SWITCHES,
  TOKEN_SECRET_PREFIX,
  isCopyOf,
  stampedUid,
  virtualRefOf,
} from './stamps.ts'
export { reasonsEndedBy, wakingState } from './wakes.ts'
export type { Presence, Related, TenantContext, Tombstone, View } from './view.ts'
