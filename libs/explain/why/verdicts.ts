import type { Reason } from '#libs/events'

/** What `why` can say besides the reasons that writes wait for. With those it is a closed set: docs/reasons.md. */
export const VERDICTS = [
  'InSync',
  'InFlight',
  'Drift',
  'Paused',
  'KindOff',
  'Excluded',
  'NeverCrosses',
  'MissingReference',
  'NotFound',
  'Deleted',
  'DeletedOnHost',
  'NotSeen',
  'NotOurs',
  'TenantUnknown',
  'ClusterChanged',
  'WatcherStopped',
  'TranslatorStopped',
  'WriterStopped',
  'CannotTell',
] as const

export type VerdictReason = (typeof VERDICTS)[number] | Reason

/** The answer in one word, in a sentence, and what is to be done. */
export type Verdict = {
  reason: VerdictReason
  /** Whether both sides agree; `unknown` where that cannot be told. */
  isInSync: boolean | 'unknown'
  /** What is so, as a sentence. */
  summary: string
  /** What to do about it; absent where there is nothing to be done. */
  remedy?: string
}

/** What to do about each: the short form of docs/reasons.md. */
export const REMEDIES: Readonly<Record<VerdictReason, string | undefined>> = {
  InSync: undefined,
  InFlight: 'wait a moment and ask again',
  Drift:
    'the translator decides about every object again within 10 minutes; if it stays, its log says why it does not now',
  Paused: 'remove the annotation causeway.dev/pause from the tenant’s object',
  KindOff: 'switch the kind on in the tenant’s configuration, with "causeway tenant configure"',
  Excluded: 'take away what excludes it, where it is to cross',
  NeverCrosses: 'nothing: ask about the pods and other objects that it makes',
  MissingReference: 'create what is missing, in the tenant; the object starts by itself then',
  NotFound: 'check name, namespace and tenant; create the object in the tenant',
  Deleted: 'create it anew in the tenant, if it is to be there',
  DeletedOnHost: 'find out who deletes on the host; the tenant’s controller makes a new one, or create it anew',
  NotSeen: 'wait a moment and ask again; if it stays, look at the watcher’s log for this tenant',
  NotOurs: 'nothing: Causeway never changes it. It is no copy of a tenant’s object',
  TenantUnknown: 'see "causeway tenant list"; add it with "causeway tenant create"',
  ClusterChanged: 'put the right kubeconfig back, or confirm the new cluster as docs/operations.md says',
  WatcherStopped: 'start a watcher; it goes on where the last one stopped',
  TranslatorStopped: 'start a translator; it goes on where the last one stopped',
  WriterStopped: 'start a writer; it goes on where the last one stopped',
  CannotTell: 'repair what is named, and ask again',
  ForeignObject: 'remove or rename the object on the host, or let the tenant rename its own',
  NameConflict: 'rename one of the two objects',
  QuotaExceeded: 'raise the quota of the host namespace, or let the tenant free some',
  AdmissionDenied: 'change the object or the policy of the host',
  PolicyRejected: 'let the tenant change its object, or change policies.podSecurityStandard',
  UnknownClass: 'create or show the class, or let the object name another',
  CrdMissing: 'install the definition, or name another version in the configuration',
  DefinitionDiffers: 'install the same definition on both sides, or delete the tenant’s so that it has the host’s',
  ReferenceNotPermitted: 'let the tenant make the ReferenceGrant, or let the listener admit the namespace',
  WaitingForDNS: 'deploy the tenant’s DNS, or set networking.dns.address',
  TokenRefused: 'create the service account in the tenant',
  Forbidden: 'grant Causeway’s credentials this write: docs/operations.md, "What the clusters must allow"',
  Invalid: 'read the API’s answer; a field that Causeway made wrong is a bug',
  NamespaceMissing: 'create the namespace: "up", "register" and "tenant create" make host namespaces',
  NamespaceTerminating: 'wait, or look at what keeps the namespace; then create it again',
  ApiUnavailable: 'look at the API; work goes on by itself once it answers',
  Unauthorized: 'renew the kubeconfig; it is read again within a minute',
  OutsideTenant: 'find out what decided it: the intent names rule and fence. It is a security event',
  StillPresent: 'nothing, unless another cluster answers than before',
  MassDeletion: 'look at the API that lost the objects; if they are gone for good: "causeway tenant confirm NAME"',
  Unsupported: 'change the object as the message says',
  PatchLoop: 'correct expression or reverseExpression of the patch',
  PoisonMessage:
    'see the logs of translator and writer: a key missing from the ring, services of different versions, or a bug',
}
